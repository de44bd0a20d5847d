model M
  Real x, y;
equation
  for i in 1:3 do
    x[i] = 1;
  end for;
end M;
