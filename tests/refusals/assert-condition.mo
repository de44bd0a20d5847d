model M
  Real x = time;
equation
  assert(x, "x is positive");
end M;
