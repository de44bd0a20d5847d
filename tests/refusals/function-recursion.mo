function f
  input Integer n;
  output Integer y;
algorithm
  y := f(n + 1);
end f;
model M
  parameter Integer p = f(1);
end M;
