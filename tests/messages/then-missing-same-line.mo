model M
  Real x, y;
equation
  if x > 0 y = 1; end if;
end M;
