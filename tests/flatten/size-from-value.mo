model SizeFromValue
  parameter Real p[:] = {1, 2, 3};
  parameter Integer n = size(p, 1);
  Real x[n] = p*time;
  parameter Real A[:, :] = [1, 2; 3, 4];
  Real t[size(A, 2)] = A[1, :];
end SizeFromValue;
