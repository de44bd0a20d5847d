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
  Pin p;
  Flange f;
end A;
model M
  A a;
equation
  connect(a.p, a.f);
end M;
