model M
  Real x;
equation
  x(0) = 1;
  der(x) = -x;
end M;
