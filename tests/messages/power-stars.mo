model M
  Real x, y;
equation
  y = x**2;
end M;
