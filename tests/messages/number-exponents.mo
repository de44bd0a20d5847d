model M
  Real x, y;
equation
  y = 1e5e5;
end M;
