model M
  Real x, y;
algorithm
  x++;
  y += 2;
end M;
