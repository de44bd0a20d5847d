model M
  Real x, y;
equation
  y = .5*x;
end M;
