model M
  Boolean b = time > 1;
  Real x = 1 + b;
end M;
