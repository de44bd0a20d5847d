model A
  Real x = 1;
end A;
model B
  extends A;
  parameter Real p = 3;
  Real y = p*time;
end B;
model Holder
  replaceable model Part = A;
  Part one;
  Part two[2];
end Holder;
model RedeclareClass
  Holder h(redeclare model Part = B(p = 4));
end RedeclareClass;
