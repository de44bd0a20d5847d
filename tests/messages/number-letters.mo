model M
  Real x, y;
equation
  y = 2x;
end M;
