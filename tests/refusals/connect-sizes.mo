connector Pin
  Real v;
  flow Real i;
end Pin;
connector Flange
  Real phi;
  flow Real tau;
end Flange;
connector In = input Real;
connector Out = output Real;
model A
  Pin p[2];
end A;
model B
  Pin p[3];
end B;
model M
  A a;
  B b;
equation
  connect(a.p, b.p);
end M;
