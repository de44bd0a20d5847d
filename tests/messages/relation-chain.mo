model M
  Real x, y;
equation
  b = 0 < x < 1;
end M;
