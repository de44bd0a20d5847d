model M
  type Part = Real(min = 0, max = 1);
  parameter Real q = -2;
  parameter Real p(min = 0, max = 1) = 1 - 2*q;
  parameter Part part[3] = {0, 1, 2};
  parameter Real fine(min = q, max = 3) = 3;
  parameter Integer n(min = 1) = 0;
  Real x(max = 1) = 2*time;
end M;
