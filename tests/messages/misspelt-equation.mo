model M
  Real x;
equaton
  x = 3;
end M;
