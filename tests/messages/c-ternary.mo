model M
  Real x, y;
equation
  y = x > 0 ? 1 : 2;
end M;
