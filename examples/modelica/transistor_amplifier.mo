package Amplifier "Two transistor stages"
  import Parts.Electrical.*;

  model Transistor "npn, by the simplest law"
    Pin base, collector, emitter;
    parameter Real alpha = 0.99 "part of the emitter current that passes the collector";
    parameter Real beta(unit = "A") = 1e-6 "saturation current";
    parameter Real UF(unit = "V") = 0.026 "temperature voltage";
    Real g(unit = "A") "current through the emitter";
  equation
    g = beta * (exp((base.v - emitter.v) / UF) - 1);
    emitter.i = -g;
    collector.i = alpha * g;
    base.i + collector.i + emitter.i = 0;
  end Transistor;

  model Stage "a transistor, a divider for its base, a coupling capacitor behind it"
    Pin input_pin, output_pin, supply, ground;
    parameter Real C_emitter(unit = "F"), C_out(unit = "F");
    parameter Real R(unit = "Ohm") = 9000;
    Transistor transistor;
    Resistor divider_low(R = R), divider_high(R = R), at_emitter(R = R), at_collector(R = R);
    Capacitor bypass(C = C_emitter), coupling(C = C_out);
  equation
    connect(input_pin, transistor.base);
    connect(transistor.base, divider_low.p);
    connect(transistor.base, divider_high.n);
    connect(transistor.emitter, at_emitter.p);
    connect(transistor.emitter, bypass.p);
    connect(transistor.collector, at_collector.n);
    connect(transistor.collector, coupling.n);
    connect(coupling.p, output_pin);
    connect(supply, divider_high.p);
    connect(supply, at_collector.p);
    connect(ground, divider_low.n);
    connect(ground, at_emitter.n);
    connect(ground, bypass.n);
  end Stage;

  model TransistorAmplifier "0.1 V and 100 Hz become 3 V; the transistors bend the curve"
    SineVoltage signal(V = 0.1, f = 100);
    ConstantVoltage battery(V = 6);
    Resistor source_resistor(R = 1000) "of the source", load(R = 9000);
    Capacitor coupling(C = 1e-6, v(start = 3, fixed = true));
    Stage first(C_emitter = 2e-6, C_out = 3e-6, bypass(v(start = 3, fixed = true)),
                coupling(v(start = -3, fixed = true)));
    Stage second(C_emitter = 4e-6, C_out = 5e-6, bypass(v(start = 3, fixed = true)),
                 coupling(v(start = -6, fixed = true)));
    Ground ground;
    Real U[8](each unit = "V") = {source_resistor.n.v, first.input_pin.v, first.bypass.v, first.coupling.n.v,
      second.input_pin.v, second.bypass.v, second.coupling.n.v, load.v} "potentials of the nodes";
  equation
    connect(signal.p, source_resistor.p);
    connect(source_resistor.n, coupling.n);
    connect(coupling.p, first.input_pin);
    connect(first.output_pin, second.input_pin);
    connect(second.output_pin, load.p);
    connect(battery.p, first.supply);
    connect(battery.p, second.supply);
    connect(ground.p, first.ground);
    connect(ground.p, second.ground);
    connect(ground.p, signal.n);
    connect(ground.p, battery.n);
    connect(ground.p, load.n);
    annotation(experiment(StopTime = 0.2, Tolerance = 1e-7));
  end TransistorAmplifier;
end Amplifier;
