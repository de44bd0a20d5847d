connector Pin
  Real v;
  flow Real i;
end Pin;
model Resistor
  Pin p, n;
equation
  p.v - n.v = p.i;
  p.i + n.i = 0;
end Resistor;
model Pair "flows of its own pins count negative inside"
  Pin p, n;
  Resistor a, b;
equation
  connect(p, a.p);
  connect(p, b.p);
  connect(a.n, n);
  connect(b.n, n);
end Pair;
model Whole
  Pair pair;
equation
  pair.p.v = time;
  pair.n.v = 0;
end Whole;
