connector Pin
  Real v;
  flow Real i;
end Pin;
model Part
  Pin p;
equation
  p.i = p.v - 1;
end Part;
model Conditional
  parameter Boolean with = false;
  Part a, b if with, c if not with;
  Real x = time;
equation
  connect(a.p, b.p);
  connect(a.p, c.p);
end Conditional;
