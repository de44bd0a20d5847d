model M
  Real x, y;
equation
  x = sin(y;
  y = 2;
end M;
