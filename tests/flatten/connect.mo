connector Pin
  Real v;
  flow Real i;
end Pin;
model Resistor
  Pin p, n;
  parameter Real R = 1;
equation
  p.v - n.v = R*p.i;
  p.i + n.i = 0;
end Resistor;
model Ground
  Pin p;
equation
  p.v = 0;
end Ground;
model Source
  Pin p, n;
equation
  p.v - n.v = sin(time);
  p.i + n.i = 0;
end Source;
model Circuit
  Source s;
  Resistor a(R = 2), b;
  Ground g;
equation
  connect(s.p, a.p);
  connect(a.n, b.p);
  connect(b.n, s.n);
  connect(s.n, g.p);
end Circuit;
