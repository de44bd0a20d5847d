model M
  Real x = time;
  Real y = x(2);
end M;
