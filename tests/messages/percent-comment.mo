model M
  Real x, y;
equation
  x = 3 % y;
end M;
