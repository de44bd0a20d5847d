model M
  Real x, y;
algorithm
  x = 3;
end M;
