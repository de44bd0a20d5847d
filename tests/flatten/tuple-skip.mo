function three
  input Real x;
  output Real a = x, b = 2*x, c = 3*x;
algorithm
end three;
model TupleSkip
  Real p, q;
equation
  (p, , q) = three(time);
end TupleSkip;
