model M
  Real x, y;
equation
  y = 0xFF;
end M;
