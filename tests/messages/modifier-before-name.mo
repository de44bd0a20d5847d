model M
  Real(start = 1) x;
end M;
