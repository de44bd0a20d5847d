// inner outer x is two: the class itself reads the outer one, components below it the inner one.
// r = other replaces the fields that a weaker modification gives, but not their attributes.
model Reader
  outer Real level;
  Real x = level;
end Reader;
model Between
  inner outer Real level = level + 1;
  Reader low;
  Real same = level;
end Between;
record R
  parameter Real a(start = 0), b = 1;
end R;
model Holder
  parameter R other(a = 3, b = 4);
  parameter R r(a(start = 7) = 5);
end Holder;
model InnerAndOuter
  inner Real level = time;
  Between between;
  Real seen = between.level;
  extends Holder(r = other);
end InnerAndOuter;
