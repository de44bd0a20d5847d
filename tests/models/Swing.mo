model Swing "an undamped oscillator: runs for as long as one likes"
  constant Real pi = 3.14159265358979;
  parameter Real omega(unit = "rad/s") = 2 * pi;
  Real x(start = 1, fixed = true, unit = "m");
  Real v(start = 0, fixed = true, unit = "m/s");
equation
  der(x) = v;
  der(v) = -omega ^ 2 * x;
  annotation(experiment(StopTime = 2));
end Swing;
