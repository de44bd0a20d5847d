partial function f
  input Real x;
  output Real y;
end f;
model M
  Real x = f(1);
end M;
