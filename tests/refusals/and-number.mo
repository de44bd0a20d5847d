model M
  Real x = time;
  Boolean b = x and x > 1;
end M;
