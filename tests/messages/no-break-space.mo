model M
  Real x, y;
equation
  y = 2;
end M;
