model Filter
  Real y = x;
protected
  Real x(start = 0, fixed = true);
equation
  der(x) = 1 - x;
end Filter;
model Protected
  Filter f;
end Protected;
