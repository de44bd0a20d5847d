model M
  Real x, y;
equation
  y = f(x)[1];
end M;
