function f
  input Real x;
  output Real a = x, b = 2*x;
algorithm
end f;
model M
  Real x;
equation
  (x + 1, x) = f(time);
end M;
