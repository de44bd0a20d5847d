model M
  Real x, y;
equation
  x' = -x;
end M;
