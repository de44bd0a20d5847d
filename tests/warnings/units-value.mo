model M
  parameter Real l(unit = "m") = 2;
  parameter Real a(unit = "m2") = l;
  Real v(unit = "m3", start = a);
equation
  der(v) = 0;
end M;
