model SingularMass "M y' = f with a constant singular M: what is differentiated is a sum"
  parameter Real C = 2;
  Real x1(start = 1), x2, x3;
equation
  C * (der(x1) + der(x2)) = -x1;
  x1 - x2 + x3 = sin(time);
  2 * x3 + x1 = 1;
end SingularMass;
