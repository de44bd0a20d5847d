package Circuit "Electrical parts, and a circuit built from them"

  connector Pin "where wires meet"
    Real v(unit = "V") "potential";
    flow Real i(unit = "A") "current into the part";
  end Pin;

  partial model TwoPins "a part between two pins"
    Pin p, n;
    Real v(unit = "V") "voltage";
    Real i(unit = "A") "current from p to n";
  equation
    v = p.v - n.v;
    i = p.i;
    p.i + n.i = 0;
  end TwoPins;

  model Resistor
    extends TwoPins;
    parameter Real R(unit = "Ohm") = 1;
  equation
    v = R * i;
  end Resistor;

  model Capacitor
    extends TwoPins;
    parameter Real C(unit = "F") = 1;
  equation
    C * der(v) = i;
  end Capacitor;

  model Inductor
    extends TwoPins;
    parameter Real L(unit = "H") = 1;
  equation
    L * der(i) = v;
  end Inductor;

  model SineVoltage
    extends TwoPins;
    parameter Real amplitude(unit = "V") = 1;
    parameter Real frequency(unit = "Hz") = 1;
  equation
    v = amplitude * sin(2 * 3.141592653589793 * frequency * time);
  end SineVoltage;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Resonance "A series circuit, driven at its own frequency: its voltages outgrow the source"
    SineVoltage source(amplitude = 1, frequency = 1 / (2 * 3.141592653589793));
    Resistor resistor(R = 0.1);
    Inductor inductor(L = 1, i(start = 0, fixed = true));
    Capacitor capacitor(C = 1, v(start = 0, fixed = true));
    Ground ground;
  equation
    connect(source.p, resistor.p);
    connect(resistor.n, inductor.p);
    connect(inductor.n, capacitor.p);
    connect(capacitor.n, source.n);
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 60));
  end Resonance;

end Circuit;
