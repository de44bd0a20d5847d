model M
  parameter Real E(unit = "J") = 8;
  parameter Real m(unit = "kg") = 1;
  Real v(unit = "m/s2") = sqrt(2*E/m);
  Real u(unit = "m/s") = sqrt(E/m);
  Real w(unit = "m/s2") = (E/m)^0.5;
end M;
