model M
  Real x, y;
equation
  x := 3;
end M;
