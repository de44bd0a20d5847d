model M
  Real x[3] = 1;
end M;
