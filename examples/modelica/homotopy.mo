model Homotopy "Newton's iteration runs away from its start; a simpler equation leads to the solution"
  parameter Real level = 30 "where the valve is in equilibrium";
  Real opening(start = 0) "of the valve, at rest in the beginning";
  Real s(start = 0) "moves slowly";
equation
  der(s) = -s + opening;
  homotopy(actual = atan(opening - level), simplified = opening - level / 2) = s / 100 - 0.3;
initial equation
  s = 0;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end Homotopy;
