model M
  Real x;
  annotation(experiment(StopTime = 1))
end M;
