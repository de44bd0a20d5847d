model M
  Boolean b = time > 1;
  Real x = -b;
end M;
