model InitialAlgorithm
  Real x;
  parameter Real k = 2;
initial algorithm
  x := k;
  x := x + 1;
equation
  der(x) = -x;
end InitialAlgorithm;
