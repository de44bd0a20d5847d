model Late
  Real level(start = 2, fixed = true);
  Real x(start = level, fixed = true);
equation
  der(level) = 1;
  der(x) = -x;
end Late;
