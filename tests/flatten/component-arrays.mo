model Cell
  parameter Real k = 1;
  Real x(start = k);
equation
  der(x) = -k*x;
end Cell;
model ComponentArrays
  parameter Integer n = 2;
  Cell c[n, 2](k = {{1, 2}, {3, 4}});
  Real s = sum(c.x);
  Real first[n] = c[:, 1].x;
end ComponentArrays;
