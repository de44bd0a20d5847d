model Guess
  Real level(start = 2, fixed = true);
  Real x(start = level, nominal = level);
equation
  der(level) = 1;
  x^2 = level;
end Guess;
