model M
  Real x = 1;
algorithm
  der(x) := 2;
end M;
