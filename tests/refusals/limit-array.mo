model M
  Real x[1000, 1000, 1000, 1000];
end M;
