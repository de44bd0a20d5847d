model M
  parameter Real p = 1;
  Real x = time if p;
end M;
