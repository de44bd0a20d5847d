connector RealInput = input Real;
connector RealOutput = output Real;
expandable connector Bus
end Bus;
model Sensor
  Bus bus;
  RealOutput y = time;
equation
  connect(y, bus.speed);
end Sensor;
model Controller
  Bus bus;
  RealInput u;
  Real x = 2*u;
equation
  connect(bus.speed, u);
end Controller;
model Expandable
  Sensor s;
  Controller c;
  Bus bus;
equation
  connect(s.bus, bus);
  connect(bus, c.bus);
end Expandable;
