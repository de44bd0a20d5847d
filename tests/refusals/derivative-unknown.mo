function f
  input Real x;
  input Integer n;
  output Real y;
algorithm
  y := n*x;
  annotation(derivative = e);
end f;
function d
  input Real x;
  input Integer n;
  input Real der_x;
  output Real der_y;
algorithm
  der_y := n*der_x;
end d;
model M
  Real x = time, y = f(x, 2);
end M;
