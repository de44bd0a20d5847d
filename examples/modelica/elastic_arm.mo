model ElasticArm "Two links, one elastic joint, a hand that follows a given path: which motors do that?"
  /* De Luca; Campbell and Griepentrog, SIAM J. Sci. Comput. 16 (1995) 257. Index 5, though structure
     says 3: u1 - u2 is in the equations of both links, and only what is left when it is eliminated
     determines the joint. `daedalus analyze` shows the combination. */
  Real q1(unit = "rad", start = 0) "angle of the first link";
  Real q2(unit = "rad", start = 1) "angle of the second motor";
  Real q3(unit = "rad", start = 1) "angle of the second link against the first";
  Real w1(unit = "rad/s"), w2(unit = "rad/s"), w3(unit = "rad/s");
  Real u1(unit = "N.m"), u2(unit = "N.m") "torques of the motors";
  Real x(unit = "m") = cos(1 - exp(time)) + cos(1 - time) "the path";
  Real y(unit = "m") = sin(1 - exp(time)) + sin(1 - time);
protected
  Real n = 2 - cos(q3) ^ 2, a = 2 / n, b = cos(q3) / n, c = sin(q3) / n, d = c * cos(q3);
  Real spring = 2 * q3 - q2, inertia = 2 * c * (w1 + w3) ^ 2 + d * w1 ^ 2;
equation
  der(q1) = w1;
  der(q2) = w2;
  der(q3) = w3;
  der(w1) = inertia + (a + 2 * b) * spring + a * (u1 - u2);
  der(w2) = -inertia + (1 - 3 * a - 2 * b) * spring - a * u1 + (a + 1) * u2;
  der(w3) = -inertia + (a - 9 * b) * spring - 2 * c * w1 ^ 2 - d * (w1 + w3) ^ 2 - (a + b) * (u1 - u2);
  cos(q1) + cos(q1 + q3) = x;
  sin(q1) + sin(q1 + q3) = y;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end ElasticArm;
