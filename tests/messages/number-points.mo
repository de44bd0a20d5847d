model M
  Real x, y;
equation
  y = 1.2.3;
end M;
