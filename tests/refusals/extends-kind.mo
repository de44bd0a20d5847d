function f
  input Real x;
  output Real y;
algorithm
  y := x;
end f;
model M
  extends f;
end M;
