connector A = output Real;
connector B = input Integer;
model C
  A a = time;
  B b;
end C;
model M
  C c;
equation
  connect(c.a, c.b);
end M;
