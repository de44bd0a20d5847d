connector Pin
  Real v;
  flow Real i;
end Pin;
model Part "asks before the connections are written"
  Pin p;
equation
  if cardinality(p) == 0 then
    p.v = 5;
  else
    p.i = p.v;
  end if;
end Part;
model Cardinality
  Part a, b, c;
equation
  connect(a.p, b.p);
end Cardinality;
