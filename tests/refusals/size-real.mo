model M
  Real x[1.5];
end M;
