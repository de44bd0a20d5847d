model SemiLinear
  Real x = time - 1;
  Real y = semiLinear(x, 2, 3);
  Real z = min(x, max(y, 1));
  Real a = atan2(x, y) + abs(x)*sign(y) + sqrt(x^2 + 1);
end SemiLinear;
