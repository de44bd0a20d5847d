package A
  replaceable model Part
    Real x = 1;
  end Part;
  model Whole
    Part part;
  end Whole;
end A;
package B
  extends A;
  redeclare replaceable model extends Part
    Real y = x + 1;
  end Part;
end B;
package C
  extends B;
  redeclare model extends Part
    Real z = y + time;
  end Part;
end C;
model ClassExtendsChain
  A.Whole a;
  B.Whole b;
  C.Whole c;
end ClassExtendsChain;
