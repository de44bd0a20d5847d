model Careless
  Real x = time;
  annotation(experiment(StopTime = 1, Tolerance = 0, Interval = -0.1));
end Careless;
