model M
  Real x = time;
  annotation (experiment(StartTime = -1, StopTime = "10 s", Tolerance = {1e-6}, Interval = true));
end M;
