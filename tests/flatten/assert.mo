model Asserts
  parameter Real p = 1;
  Real x = p*time;
equation
  assert(p > 0, "p must be positive");
  assert(x < 5, "x is " + String(p), AssertionLevel.warning);
  assert(true, "always");
end Asserts;
