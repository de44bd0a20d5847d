model M
  Real x;
equation
  for i in 3 loop
    x = i;
  end for;
end M;
