model ForEquations
  parameter Integer n = 4;
  Real T[n](each start = 300);
equation
  der(T[1]) = T[2] - T[1];
  for i in 2:n - 1 loop
    der(T[i]) = T[i - 1] - 2*T[i] + T[i + 1];
  end for;
  der(T[n]) = T[n - 1] - T[n];
end ForEquations;
