model HomotopyDelay
  Real x(start = 1);
  Real y = delay(x, 0.5);
  Real z = delay(x, y, 2);
equation
  homotopy(x^3 + x, x) = time;
end HomotopyDelay;
