block Integrator
  input Real u;
  output Real y(start = 0, fixed = true);
  parameter Real k = 1;
equation
  der(y) = k*u;
end Integrator;
model Blocks
  Integrator i1(k = 2, u = 1);
  Integrator i2(u = i1.y);
  input Real u;
  output Real y = i2.y + u;
end Blocks;
