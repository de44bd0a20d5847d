model M
  Real x, y;
equation
  y = ;
end M;
