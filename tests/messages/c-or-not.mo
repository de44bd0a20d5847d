model M
  Real x, y;
equation
  y = if !b || c then 1 else 2;
end M;
