model M
  Real;
end M;
