model M
  Real A[size(A, 2), 2];
  parameter Integer n[n[1]] = {2, 3};
end M;
