function solve2 "Cramer"
  input Real A[2, 2];
  input Real b[2];
  output Real x[2];
protected
  Real d = A[1, 1]*A[2, 2] - A[1, 2]*A[2, 1];
algorithm
  x[1] := (b[1]*A[2, 2] - A[1, 2]*b[2])/d;
  x[2] := (A[1, 1]*b[2] - b[1]*A[2, 1])/d;
end solve2;
model FunctionArrays
  Real x[2] = solve2([2, 1; 1, 1], {time, 1});
end FunctionArrays;
