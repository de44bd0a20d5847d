model Root "y is no number any more where time exceeds a"
  parameter Real a = 1;
  Real x(start = 1, fixed = true);
  Real y;
equation
  der(x) = y;
  y = sqrt(a - time);
end Root;
