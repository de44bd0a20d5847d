model M
  Real x;
equation
  for i in 1:1000000000000 loop
    x = i;
  end for;
end M;
