model ArrayAlgebra
  parameter Real A[2, 2] = [1, 2; 3, 4];
  Real x[2] = {time, 1};
  Real y[2] = A*x;
  Real z = x*y;
  Real B[2, 2] = A*transpose(A) + identity(2);
  Real w[2] = x .* y ./ {2, 4};
  Real v[3] = cross({1, 0, 0}, {0, time, 0});
  Real o[2, 2] = outerProduct(x, x);
  Real P[2, 2] = A^2;
end ArrayAlgebra;
