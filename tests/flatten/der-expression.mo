model DerExpression
  Real x(start = 1), y(start = 0);
equation
  der(x*y) = 1;
  der(sin(x)) = y;
end DerExpression;
