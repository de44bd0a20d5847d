model M
  Real x, y;
equation
  for i in 1:3 loop
    if x > 0 then
      y = 1;
  end for;
end M;
