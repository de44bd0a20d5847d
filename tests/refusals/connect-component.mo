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
end A;
model M
  A a, b;
equation
  connect(a, b);
end M;
