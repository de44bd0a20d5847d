model M
  Real x[2] = 1:0:2;
end M;
