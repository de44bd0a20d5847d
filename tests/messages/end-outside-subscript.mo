model M
  Real x, y;
equation
  x = end;
end M;
