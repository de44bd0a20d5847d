model M
  Real x, y;
equation
  b = x =< 3;
end M;
