model ArrayEmpty
  parameter Integer n = 0;
  Real x[n];
  Real y = sum(x) + time;
  Real z = product(x);
  Real A[2, n];
  Real b[2] = A*x;
equation
  for i in 1:n loop
    x[i] = i;
  end for;
end ArrayEmpty;
