model M
  Real x, y;
equation
  x = [1, 2; 3, 4;
  y = 2;
end M;
