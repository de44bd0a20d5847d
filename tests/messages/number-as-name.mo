model M
  Real 3x;
end M;
