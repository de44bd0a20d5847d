model M
  Real x, y;
algorithm
  der(x) := 3;
end M;
