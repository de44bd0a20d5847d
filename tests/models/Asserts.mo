model Asserts "stops where x falls below one half, at t = log(2)"
  Real x(start = 1, fixed = true);
equation
  der(x) = -x;
  assert(x > 0.5, "x is below one half");
end Asserts;
