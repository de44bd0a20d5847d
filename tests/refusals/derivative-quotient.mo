model M
  Real x(start = 1);
equation
  dx/dt = -x;
end M;
