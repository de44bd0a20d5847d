model M
  Real x, y;
equation
  connect(a, b, c);
end M;
