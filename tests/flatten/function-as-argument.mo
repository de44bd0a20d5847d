partial function Law
  input Real x;
  output Real y;
end Law;
function scaled
  extends Law;
  input Real k = 1;
algorithm
  y := k*x^2;
end scaled;
function integral "midpoint rule"
  input Law f;
  input Integer n;
  output Real s = 0;
algorithm
  for i in 1:n loop
    s := s + f((i - 0.5)/n)/n;
  end for;
end integral;
model FunctionAsArgument
  Real x = integral(function scaled(k = 3), 2)*time;
end FunctionAsArgument;
