function f
  input Real x;
  output Real y;
algorithm
  y := x;
end f;
model M
  Real a, b;
equation
  (a, b) = f(time);
end M;
