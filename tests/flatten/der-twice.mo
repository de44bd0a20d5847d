model DerTwice
  Real x(start = 1, fixed = true);
  Real v = der(x);
equation
  der(v) = -x;
end DerTwice;
