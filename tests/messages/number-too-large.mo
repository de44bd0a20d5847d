model M
  Real x, y;
equation
  y = 1e999;
end M;
