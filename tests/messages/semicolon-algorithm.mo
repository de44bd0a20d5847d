model M
  Real x, y;
algorithm
  x := 3
  y := 4;
end M;
