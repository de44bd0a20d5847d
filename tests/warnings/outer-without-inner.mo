model A
  outer Real T;
  Real x = T;
end A;
model M
  A a;
end M;
