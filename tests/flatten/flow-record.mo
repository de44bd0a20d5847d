// flow of a record is flow of its fields: the parts of complex currents add up to zero.
record Complex
  Real re, im;
end Complex;
connector Pin
  Complex v;
  flow Complex i;
end Pin;
model Part
  Pin p;
end Part;
model FlowRecord
  Part a, b, c, alone;
equation
  connect(a.p, b.p);
  connect(b.p, c.p);
end FlowRecord;
