model Rlc "A series circuit of three parts, switched on: a damped oscillation"
  import Parts.Electrical.*;
  ConstantVoltage source(V = 10);
  Resistor resistor(R = 2);
  Inductor inductor(L = 0.1, i(start = 0, fixed = true));
  Capacitor capacitor(C = 1e-3, v(start = 0, fixed = true));
  Ground ground;
equation
  connect(source.p, resistor.p);
  connect(resistor.n, inductor.p);
  connect(inductor.n, capacitor.p);
  connect(capacitor.n, source.n);
  connect(source.n, ground.p);
  annotation(experiment(StopTime = 0.1, Tolerance = 1e-7));
end Rlc;
