model M
  Real x = time;
equation
  assert(x >= 0);
end M;
