function f
  input Real x[3];
  output Real y;
algorithm
  y := sum(x);
end f;
model M
  Real x = f({1, 2});
end M;
