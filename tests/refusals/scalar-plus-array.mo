model M
  Real x[2] = 1 + {1, 2};
end M;
