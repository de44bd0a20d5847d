model Few "one equation too few"
  Real x(start = 1);
  Real z;
equation
  der(x) = -x;
end Few;
