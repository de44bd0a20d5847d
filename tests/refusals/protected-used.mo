model A
  Real y = x;
protected
  parameter Real x = 1;
end A;
model M
  A a;
  Real z = a.x;
end M;
