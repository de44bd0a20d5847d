model SubscriptNumbers
  function min
    input Integer a;
    input Integer b;
    output Integer c;
  algorithm
    c := a + b;
  end min;
  parameter Integer n = 4;
  parameter Integer m = n - 1;
  Real x[n];
  Real y[n];
  Real A[m, n];
equation
  for i in 1:n loop
    x[mod(3*i, n) + 1] = i*time;
    y[i] = x[if i == 1 then n elseif i > m then end - 2 else i - 1] + x[max(i - 1, 1)];
  end for;
  for i in 1:m loop
    for j in 1:n loop
      A[m + 1 - i, end + 1 - j] = x[min(0, j)]*y[mod(-i, n) + 1] - 2*i;
    end for;
  end for;
end SubscriptNumbers;
