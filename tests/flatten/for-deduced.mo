model ForDeduced
  Real A[2, 2];
  Real s = sum(A[i, 1] for i);
equation
  for i, j loop
    A[i, j] = i*time + j;
  end for;
end ForDeduced;
