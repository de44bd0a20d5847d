model A
  final parameter Real p = 1;
  Real x = p*time;
end A;
model M
  A a(p = 2);
end M;
