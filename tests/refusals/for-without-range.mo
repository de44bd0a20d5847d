model M
  Real x;
equation
  for i loop
    x = i;
  end for;
end M;
