model M
  Real x, y;
equation
  y = 1e+;
end M;
