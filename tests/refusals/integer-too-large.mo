function factorial
  input Integer n;
  output Integer y;
algorithm
  y := 1;
  for i in 1:n loop
    y := y*i;
  end for;
end factorial;
model M
  parameter Integer good = factorial(18), bad = factorial(19);
end M;
