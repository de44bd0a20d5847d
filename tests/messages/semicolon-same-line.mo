model M
  Real x, y;
equation
  x = 3 y = 4;
end M;
