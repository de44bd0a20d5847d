// floor and its like of what is whole cause no events: integer(ceil(u)) jumps where ceil(u) does.
model WholeNumbers
  Real u = 10*sin(time);
  Integer n = integer(ceil(u - 0.5));
  Real m = floor(n + 1);
  Real y[2] = semiLinear(u, {1, 2}, {3, time});
  Real z[2, Boolean];
algorithm
  for i, j loop
    z[i, j] := i*(if j then 1 else 10);
  end for;
end WholeNumbers;
