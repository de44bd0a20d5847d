model M
  Real x, y;
equation
  x = 3;
  parameter Real p = 2;
  y = p;
end M;
