model M
  Real x, y;
equation
  x = max(1 2);
end M;
