model M
  Boolean b = time > 1;
  Real x = der(b);
end M;
