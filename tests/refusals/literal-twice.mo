type E = enumeration(a, b, a);
model M
  parameter E e = E.a;
end M;
