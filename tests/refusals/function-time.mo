function f
  output Real y;
algorithm
  y := time;
end f;
model M
  Real x = f();
end M;
