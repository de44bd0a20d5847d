model M
  Real x(unit = "V") = time;
  Real i(unit = "A") = 2*time;
  Real y = if time > 1 then x else i;
end M;
