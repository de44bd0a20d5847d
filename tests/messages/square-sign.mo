model M
  Real x, y;
equation
  y = x²;
end M;
