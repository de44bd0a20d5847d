model M
  Real A[2, 3] = ones(2, 3);
  Real x[2] = {1, 2};
  Real y[2] = A*x;
end M;
