model M
  Real x, y;
equation
  if x > 0 then
    y = 1;
end M;
