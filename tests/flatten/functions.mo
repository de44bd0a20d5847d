function f "named and default arguments, several results"
  input Real a;
  input Real b = 2*a;
  output Real sum = a + b;
  output Real product;
algorithm
  product := a*b;
end f;
model Functions
  Real x = f(time);
  Real y = f(time, b = 3);
  Real p, q;
equation
  (p, q) = f(b = x, a = 1);
end Functions;
