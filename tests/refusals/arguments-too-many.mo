function f
  input Real x;
  input Real y = 2;
  output Real z;
algorithm
  z := x + y;
end f;
model M
  Real x = f(1, 2, 3);
end M;
