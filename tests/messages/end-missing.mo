model Tank
  Real x;
equation
  x = 3;
