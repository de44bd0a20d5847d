model M
  Real x(start = 1;
  Real y;
end M;
