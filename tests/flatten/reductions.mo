model Reductions
  parameter Real p[4] = {3, 1, 4, 1};
  Real s = sum(p)*time;
  Real m = max(p) - min(p);
  Real q = product(p[i] for i in 1:3);
  Real r = sum(i*j for i in 1:2, j in 1:3);
  Real largest = max(i*(5 - i) for i in 1:4);
  Integer n = size(p, 1) + ndims(p);
end Reductions;
