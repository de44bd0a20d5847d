model M
  Real x = time;
  Real y = x.value;
end M;
