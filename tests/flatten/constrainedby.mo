// What 'constrainedby C(...)' says holds for the declaration and for every redeclaration; what the
// redeclaration says counts more, what is said from outside counts most.
record A
  parameter Real p = 1;
  parameter Real q = 1;
end A;
model M
  extends A;
  parameter Real r = 1;
end M;
package Numbers
  constant Real c = 1;
  constant Real d = 1;
end Numbers;
package Others
  constant Real c = 2;
  constant Real d = 2;
  constant Real e = 2;
end Others;
model Holder
  replaceable model Part = M(q = 5) constrainedby M(p = 3, q = 4);
  replaceable package Constants = Numbers constrainedby Numbers(c = 7);
  replaceable model Plain = M(p = 6);
  replaceable model Long
    parameter Real p = 1;
  end Long constrainedby B(p = 8);
  replaceable M component constrainedby M(p = 9);
  model B
    parameter Real p;
  end B;
  Part part;
  Plain plain;
  Long long;
  Real x = Constants.c + 10*Constants.d;
end Holder;
model Between
  extends Holder(redeclare replaceable model Part = M constrainedby M(r = 12));
end Between;
model Constrainedby
  Holder asis;
  Holder other(redeclare model Part = M(r = 2), redeclare package Constants = Others,
               redeclare model Plain = M(q = 6), redeclare M component(q = 9),
               part(q = 11));
  Holder own(redeclare model Part = M(p = 2), redeclare package Constants = Others(c = 3));
  Between twice(redeclare model Part = M(q = 13));
end Constrainedby;
