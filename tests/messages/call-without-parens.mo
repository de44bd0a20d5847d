model M
  Real x, y;
equation
  der x = 1;
end M;
