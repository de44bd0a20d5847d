model M
  Real x
  Real y;
end M;
