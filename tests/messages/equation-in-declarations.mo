model M
  Real x;
  der(x) = -x;
  x = 3;
end M;
