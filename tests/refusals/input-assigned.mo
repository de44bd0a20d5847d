function f
  input Real x;
  output Real y;
algorithm
  x := 2;
  y := x;
end f;
model M
  Real x = f(time);
end M;
