model M
  Real x, y;
equation
  y = x^2^3;
end M;
