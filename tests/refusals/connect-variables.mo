model M
  Real x, y;
equation
  connect(x, y);
end M;
