function f
  input Real x;
  output Real y;
  Real z;
algorithm
  z := x;
  y := z;
end f;
model M
  Real x = f(time);
end M;
