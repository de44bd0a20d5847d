model M
  Real x(0) = 1;
equation
  der(x) = -x;
end M;
