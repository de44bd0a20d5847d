model M
  Real x, y;
equation
  y = if x != 0 then 1 else 2;
end M;
