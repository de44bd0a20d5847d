model M
  Real x, y;
equation
  x = y \ 3;
end M;
