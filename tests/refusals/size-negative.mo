model M
  parameter Integer n = -2;
  Real x[n];
end M;
