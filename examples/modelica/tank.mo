package Control "A level kept by a controller, from blocks"
  connector Input = input Real;
  connector Output = output Real;

  block Reference "what the level shall be"
    parameter Real value = 1;
    Output y;
  equation
    y = value;
  end Reference;

  block Pi "proportional and integral part"
    parameter Real k = 2 "gain";
    parameter Real Ti(unit = "s") = 5 "time of the integral part";
    Input wanted, measured;
    Output y;
    Real integral(start = 0, fixed = true);
  equation
    der(integral) = (wanted - measured) / Ti;
    y = k * (wanted - measured + integral);
  end Pi;

  block Vessel "what flows out grows with the level"
    parameter Real A(unit = "m2") = 4 "area";
    parameter Real c(unit = "m2/s") = 0.5 "outflow for each metre";
    Input inflow(unit = "m3/s");
    Output level(unit = "m", start = 0, fixed = true);
  equation
    A * der(level) = inflow - c * level;
  end Vessel;

  model Tank "A vessel is filled to 1 m and kept there"
    Reference reference(value = 1);
    Pi controller(k = 2, Ti = 5);
    Vessel vessel;
  equation
    connect(reference.y, controller.wanted);
    connect(vessel.level, controller.measured);
    connect(controller.y, vessel.inflow);
    annotation(experiment(StopTime = 10, Tolerance = 1e-8));
  end Tank;
end Control;
