// Equations that are inherited by two ways, or written the same again, count once.
model Base
  Real x(start = 1, fixed = true);
  Real y;
equation
  der(x) = -x;
  y = 2*x;
end Base;
model Left
  extends Base;
  Real l = x;
end Left;
model Right
  extends Base;
  Real r;
algorithm
  r := 3*x;
end Right;
model Again
  extends Right;
equation
  der(x) = -x;
end Again;
model InheritedTwice
  extends Left;
  extends Again;
  extends Right;
equation
  y = 2*x;
end InheritedTwice;
