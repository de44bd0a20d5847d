model M
  Real x, y;
equation
  x = = 3;
  y := 2;
  x = (1;
end M;
