model A
  parameter Real p[2] = {1, 2};
  Real x = p[1]*time;
end A;
model M
  A a[3](p = {1, 2});
end M;
