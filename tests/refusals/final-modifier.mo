model A
  parameter Real p = 1;
  Real x = p*time;
end A;
model B
  A a(final p = 2);
end B;
model M
  B b(a(p = 3));
end M;
