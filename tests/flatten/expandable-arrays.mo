// An array on a bus made element by element is as large as the largest subscript on all buses that
// are connected; its elements that nobody uses are left out, as is what buses declare and nobody uses.
connector RealInput = input Real;
connector RealOutput = output Real;
connector Pin
  Real v;
  flow Real i;
end Pin;
expandable connector Bus
  parameter Real p = 5;
  Real unused, given, seen[2];
end Bus;
model Sources
  Bus bus;
  RealOutput y[2] = {time, 2*time};
equation
  for i in 1:2 loop
    connect(y[i], bus.x[2*i - 1]);
  end for;
  bus.given = 3*time;
end Sources;
model Sinks
  Bus bus;
  RealInput u, v;
  Real seen = bus.given;
equation
  connect(bus.x[3], u);
  connect(v, bus.x[1]);
end Sinks;
model Source
  Pin pin(v = 1);
end Source;
model ExpandableArrays
  Bus bus;
  Sources a;
  Sinks b;
  Source s[2];
equation
  connect(a.bus, bus);
  connect(b.bus, bus);
  connect(bus.pin[1, 2], s[1].pin);
  connect(s[2].pin, bus.pin[1, 1]);
end ExpandableArrays;
