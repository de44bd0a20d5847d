model M
  Real x[3];
equation
  for i in 1:4 loop
    x[i] = i;
  end for;
end M;
