package P
  constant Real k = 2;
  model A
    constant Real k = 3;
    Real x = k*time;
    Real y = .P.k*time;
  end A;
  model B
    Real x = k*time;
  end B;
end P;
model Scoping
  P.A a;
  P.B b;
end Scoping;
