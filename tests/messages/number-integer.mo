model M
  Real x, y;
equation
  y = 99999999999999999999;
end M;
