model M
  Real input;
  Real y;
end M;
