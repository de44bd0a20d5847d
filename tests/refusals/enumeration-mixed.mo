model M
  type A = enumeration(a, b);
  type B = enumeration(a, c);
  parameter A x = B.a;
end M;
