model M
  Real x, y;
equation
  y = if x > 0 1 else 2;
end M;
