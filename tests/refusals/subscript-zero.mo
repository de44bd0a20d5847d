model M
  Real x[3];
equation
  for i in 1:3 loop
    x[i] = if i > 1 then x[i - 1] else 1;
  end for;
  x[0] = 1;
end M;
