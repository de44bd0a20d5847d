function f
  input Real x;
  output Real y[2];
algorithm
  y := {x, 2*x};
  annotation(derivative = d);
end f;
function d
  input Real x;
  input Real der_x;
  output Real der_y;
algorithm
  der_y := der_x;
end d;
model M
  Real x = time, y[2] = f(x);
end M;
