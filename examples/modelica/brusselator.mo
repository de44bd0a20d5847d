model Brusselator "Two species chase each other round a limit cycle"
  parameter Real A = 1, B = 3 "what is supplied";
  Real x(start = 1.5, fixed = true), y(start = 3, fixed = true);
equation
  der(x) = A + x ^ 2 * y - (B + 1) * x;
  der(y) = B * x - x ^ 2 * y;
  annotation(experiment(StopTime = 20, Tolerance = 1e-8));
end Brusselator;
