model M
  Real x, y;
equation
  x = [1, 2 3; 4, 5, 6];
  y = 2;
end M;
