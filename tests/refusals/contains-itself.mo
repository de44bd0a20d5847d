model A
  Real x = 1;
  B b;
end A;
model B
  A a;
end B;
model M
  A a;
end M;
