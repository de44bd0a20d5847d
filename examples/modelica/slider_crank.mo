model SliderCrank "A crank, a rod and a slider without gravity, once pushed: index 3"
  parameter Real l1(unit = "m") = 0.15 "length of the crank";
  parameter Real l2(unit = "m") = 0.30 "length of the rod";
  parameter Real J1(unit = "kg.m2") = 0.002727 "inertia of the crank";
  parameter Real J2(unit = "kg.m2") = 0.0045339259 "inertia of the rod";
  parameter Real m2(unit = "kg") = 0.151104 "mass of the rod";
  parameter Real m3(unit = "kg") = 0.075552 "mass of the slider";
  Real a(unit = "rad", start = 0, fixed = true) "angle of the crank";
  Real b(unit = "rad", start = 0) "angle of the rod";
  Real x(unit = "m", start = 0.45) "position of the slider";
  Real va(unit = "rad/s", start = 150, fixed = true), vb(unit = "rad/s", start = -75);
  Real vx(unit = "m/s");
  Real up(unit = "N") "keeps the slider on its line", along(unit = "N") "pushes the slider";
protected
  Real k(unit = "kg.m2") = m2 * l1 * l2 / 2;
equation
  der(a) = va;
  der(b) = vb;
  der(x) = vx;
  (J1 + m2 * l1 ^ 2) * der(va) + k * cos(a - b) * der(vb)
    = -k * sin(a - b) * vb ^ 2 + l1 * cos(a) * up + l1 * sin(a) * along;
  k * cos(a - b) * der(va) + J2 * der(vb)
    = k * sin(a - b) * va ^ 2 + l2 * cos(b) * up + l2 * sin(b) * along;
  m3 * der(vx) = along;
  l1 * sin(a) + l2 * sin(b) = 0;
  x = l1 * cos(a) + l2 * cos(b);
  annotation(experiment(StopTime = 0.1, Tolerance = 1e-8));
end SliderCrank;
