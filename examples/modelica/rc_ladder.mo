model RcLadder "A voltage is switched on at one end of a line of resistors and capacitors"
  import Parts.Electrical.*;
  parameter Integer n = 20 "number of sections";
  ConstantVoltage source(V = 1);
  Resistor resistor[n](each R = 1000);
  Capacitor capacitor[n](each C = 1e-6, each v(start = 0, fixed = true));
  Ground ground;
  Real end_voltage(unit = "V") = capacitor[n].v "at the open end";
equation
  connect(source.n, ground.p);
  connect(source.p, resistor[1].p);
  for i in 1:n loop
    connect(resistor[i].n, capacitor[i].p);
    connect(capacitor[i].n, ground.p);
  end for;
  for i in 1:n - 1 loop
    connect(resistor[i].n, resistor[i + 1].p);
  end for;
  annotation(experiment(StopTime = 0.2, Tolerance = 1e-7));
end RcLadder;
