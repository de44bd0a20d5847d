model M
  Real x;
initial
  x = 1;
equation
  der(x) = -x;
end M;
