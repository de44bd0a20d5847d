model M
  Real x, y;
equation
  for in in 1:3 loop
    x = 1;
  end for;
end M;
