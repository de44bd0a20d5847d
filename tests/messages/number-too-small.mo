model M
  Real x, y;
equation
  y = 1e-999;
end M;
