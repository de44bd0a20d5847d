model Pendulum "A pendulum in Cartesian coordinates: the rod is an equation, the index is 3"
  parameter Real m(unit = "kg") = 1 "mass";
  parameter Real L(unit = "m") = 1 "length of the rod";
  parameter Real g(unit = "m/s2") = 9.81 "gravity";
  Real x(unit = "m", start = 1, fixed = true) "to the right";
  Real y(unit = "m", start = 0) "upwards";
  Real vx(unit = "m/s", start = 0, fixed = true), vy(unit = "m/s");
  Real F(unit = "N/m") "force in the rod, for each metre of it";
  Real energy(unit = "J") = m * (vx ^ 2 + vy ^ 2) / 2 + m * g * y "stays as it is";
equation
  der(x) = vx;
  der(y) = vy;
  m * der(vx) = -F * x;
  m * der(vy) = -F * y - m * g;
  x ^ 2 + y ^ 2 = L ^ 2;
  annotation(experiment(StopTime = 10, Tolerance = 1e-8));
end Pendulum;
