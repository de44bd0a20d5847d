model M
  Real x, y;
equation
  x = max(1, );
end M;
