model M
  Real x[2] = {1, "a"};
end M;
