model M
  Real x(start = 1);
equation
  derivative(x) = -x;
end M;
