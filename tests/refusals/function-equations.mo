function f
  input Real x;
  output Real y;
equation
  y = x;
end f;
model M
  Real x = f(time);
end M;
