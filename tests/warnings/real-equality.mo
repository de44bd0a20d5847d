model M
  Real x = sin(time);
  Boolean b = x == 0.5;
end M;
