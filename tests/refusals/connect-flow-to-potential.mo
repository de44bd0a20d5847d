connector A
  Real x;
  flow Real y;
end A;
connector B
  flow Real x;
  Real y;
end B;
model C
  A a;
  B b;
end C;
model M
  C c;
equation
  connect(c.a, c.b);
end M;
