model M
  Real x, y;
equation
  y = if x > 0 && x < 1 then 1 else 2;
end M;
