model Loop "A ring of a hundred pipes: one loop, which tearing makes one equation in one unknown"
  parameter Integer n = 100 "pipes";
  parameter Real k = 0.02 "resistance of a pipe";
  parameter Real c = 0.2 "against which the flow returns";
  Real p[n + 1] "pressures along the ring";
  Real q(start = 0.5) "flow";
  Real pump = 2 + sin(time);
equation
  p[1] = pump - c * q ^ 3;
  for i in 1:n loop
    p[i] - p[i + 1] = k * q * abs(q);
  end for;
  p[n + 1] = exp(q) - 1;
  annotation(experiment(StopTime = 5));
end Loop;
