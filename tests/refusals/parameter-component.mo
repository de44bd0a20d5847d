model A
  Real x = 1;
end A;
model M
  parameter A a;
end M;
