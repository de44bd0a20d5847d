model AlgorithmLoop
  Real x[3];
  Real s;
algorithm
  s := 0;
  for i in 1:3 loop
    x[i] := i*time;
    s := s + x[i];
  end for;
end AlgorithmLoop;
