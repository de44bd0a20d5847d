// The second size may speak of the first: A[:, size(A, 1)].
model SizesInTurn
  function trace
    input Real A[:, size(A, 1)];
    output Real t = 0;
  algorithm
    for i in 1:size(A, 1) loop
      t := t + A[i, i];
    end for;
  end trace;
  block Filter
    parameter Real A[:, size(A, 1)] = [1, 2; 3, 4];
    parameter Real B[size(A, 1), :];
    Real x[size(A, 1)] = A*B[:, 1]*time;
  end Filter;
  Filter f(B = [1; 2]);
  Filter g(A = [5], B = [6]);
  Real E[2, size(E, 1)] = time*identity(2);
  constant Integer K[3, size(K, 1)] = fill(1, 3, 3);
  Real y = f.A[2, 2] + trace(f.A), z = trace(E) + K[3, 3];
end SizesInTurn;
