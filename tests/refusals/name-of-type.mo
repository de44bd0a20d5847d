model M
  Real Real = 1;
end M;
