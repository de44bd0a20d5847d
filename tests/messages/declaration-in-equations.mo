model M
  Real x, y;
equation
  x = 3;
  Real z;
  y = z;
end M;
