model Initial
  parameter Real p(fixed = false);
  Real x;
initial equation
  x = 3;
  p = 2*x;
equation
  der(x) = -p*x;
end Initial;
