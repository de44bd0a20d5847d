package Base
  replaceable model Part
    Real x = 1;
  end Part;
  model Whole
    Part part;
  end Whole;
end Base;
package More
  extends Base;
  redeclare model extends Part
    Real y = x + time;
  end Part;
end More;
model ClassExtends
  More.Whole whole;
end ClassExtends;
