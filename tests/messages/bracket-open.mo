model M
  Real x, y;
equation
  x = a[1;
end M;
