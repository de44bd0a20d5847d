model M
  parameter Integer n;
  Real x[n] = ones(n);
end M;
