model M
  Real x, y;
equation
  b = not not c;
end M;
