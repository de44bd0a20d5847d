model M
  Real x(unit = "m") = 2*time;
  parameter Real w(unit = "s") = 3;
  Real y(unit = "m") = x + w;
end M;
