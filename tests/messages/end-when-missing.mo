model M
  Real x, y;
equation
  when x > 0 then
    y = 1;
end M;
