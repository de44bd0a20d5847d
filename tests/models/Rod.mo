model Rod "a pendulum in the plane whose start values are a little off the circle"
  parameter Real L(unit = "m") = 1;
  Real x(start = 0.6, unit = "m"), y(start = -0.7, unit = "m");
  Real u(start = 1, unit = "m/s"), v(start = 1, unit = "m/s");
  Real F;
equation
  der(x) = u;
  der(y) = v;
  der(u) = -F * x;
  der(v) = -F * y - 9.81;
  x ^ 2 + y ^ 2 = L ^ 2;
end Rod;
