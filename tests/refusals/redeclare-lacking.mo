model A
  Real x = 1;
end A;
model B
  Real y = 2;
end B;
model C
  replaceable A a;
end C;
model M
  C c(redeclare B a);
end M;
