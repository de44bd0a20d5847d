partial M
  Real x;
end M;
