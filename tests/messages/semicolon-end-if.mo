model M
  Real x, y;
equation
  if x > 0 then
    y = 1;
  else
    y = 2;
  end if
  x = 3;
end M;
