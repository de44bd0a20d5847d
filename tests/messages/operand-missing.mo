model M
  Real x, y;
equation
  y = 2*;
  x = 1;
end M;
