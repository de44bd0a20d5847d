model M
  Real 'a b = 3;
  Real y;
end M;
