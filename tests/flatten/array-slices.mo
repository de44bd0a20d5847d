model ArraySlices
  Real A[2, 3] = [1, 2, 3; 4, 5, 6]*time;
  Real row[3] = A[2, :];
  Real column[2] = A[:, end];
  Real part[2, 2] = A[:, {1, 3}];
  Real tail[2] = row[2:end];
end ArraySlices;
