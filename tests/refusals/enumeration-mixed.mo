model M
  type A = enumeration(a, b);
  type B = enumeration(a, b);
  parameter A x = B.a;
end M;
