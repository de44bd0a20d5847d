model IndexTwo "The test DAE of a seminar: index 2, solution x = sin t, y = -cos t"
  Real x, y;
equation
  x = sin(time);
  der(x) + y = 0;
end IndexTwo;
