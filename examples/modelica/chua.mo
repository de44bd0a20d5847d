model Chua "Chua's circuit: two capacitors, a coil, and a resistor whose line has two corners"
  parameter Real alpha = 15.6 "ratio of the capacitors";
  parameter Real beta = 28 "against the coil";
  parameter Real slope_in = -8 / 7 "slope of the resistor for |x| < 1";
  parameter Real slope_out = -5 / 7 "slope beyond";
  Real x(start = 0.7, fixed = true) "voltage at the resistor";
  Real y(start = 0, fixed = true) "voltage at the coil";
  Real z(start = 0, fixed = true) "current in the coil";
  Real f "current in the resistor";
equation
  f = if x > 1 then slope_out * x + (slope_in - slope_out)
      elseif x < -1 then slope_out * x - (slope_in - slope_out) else slope_in * x;
  der(x) = alpha * (y - x - f);
  der(y) = x - y + z;
  der(z) = -beta * y;
  annotation(experiment(StopTime = 10, Tolerance = 1e-9));
end Chua;
