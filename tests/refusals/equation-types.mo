model M
  Real x;
  Boolean b = time > 1;
equation
  x = b;
end M;
