model M
  parameter Boolean on = false;
  Real x if on;
  Real y = x;
end M;
