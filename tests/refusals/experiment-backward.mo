model Backward
  Real x = time;
  annotation(experiment(StartTime = 10, StopTime = 1));
end Backward;
