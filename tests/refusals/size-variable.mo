model M
  Integer n = integer(time);
  Real x[n];
end M;
