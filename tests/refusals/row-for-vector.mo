model M
  Real x[3] = [1, 2, 3];
end M;
