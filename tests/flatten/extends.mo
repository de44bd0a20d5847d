model Base
  parameter Real p = 1;
  Real x(start = p);
equation
  der(x) = -p*x;
end Base;
model Extends
  extends Base(p = 2, x(fixed = true));
  Real y = 2*x;
end Extends;
