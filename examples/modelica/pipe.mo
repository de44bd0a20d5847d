model Pipe "A pump drives water round a rough loop, harder and less hard: five equations in a ring"
  parameter Real D(unit = "m") = 0.05 "diameter", L(unit = "m") = 100 "length";
  parameter Real rho(unit = "kg/m3") = 1000 "density";
  parameter Real nu(unit = "m2/s") = 1e-6 "viscosity";
  parameter Real a(unit = "Pa.s2/m6") = 1e9 "what the pump loses with its flow";
  Real q(unit = "m3/s", start = 0.001) "flow: the only start value that is needed";
  Real w(unit = "m/s") "mean velocity";
  Real Re "Reynolds' number";
  Real friction "Blasius' law: infinite at Re = 0, where an iteration over all five would begin";
  Real dp(unit = "Pa") "loss of pressure";
protected
  constant Real pi = 3.141592653589793;
equation
  w = q / (pi / 4 * D ^ 2);
  Re = w * D / nu;
  friction = 0.3164 * Re ^ (-0.25);
  dp = friction * L / D * rho / 2 * w ^ 2;
  dp = 5e4 + 2e4 * sin(time) - a * q ^ 2;
  annotation(experiment(StopTime = 10));
end Pipe;
