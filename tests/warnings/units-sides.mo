model M
  parameter Real m(unit = "kg") = 1;
  Real x(unit = "m", start = 1), F(unit = "N");
equation
  F = -5*x;
  m*der(x) = F;
end M;
