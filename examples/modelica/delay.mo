model Delay "A balance that reacts too late: it swings"
  parameter Real tau(unit = "s") = 1 "how late";
  Real x(start = 1, fixed = true);
equation
  der(x) = -delay(x, tau);
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end Delay;
