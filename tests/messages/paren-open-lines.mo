model M
  Real x, y;
equation
  x = sin(
    y + 1
  y = 2;
end M;
