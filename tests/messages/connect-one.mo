model M
  Real x, y;
equation
  connect(a);
end M;
