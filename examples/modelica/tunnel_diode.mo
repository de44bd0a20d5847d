model TunnelDiode "A battery and a coil pull a current backwards through a diode with a hump"
  parameter Real E(unit = "V") = -1 "of the battery";
  parameter Real R(unit = "Ohm") = 1e4, L(unit = "H") = 0.01;
  parameter Real Ip(unit = "A") = 1e-3 "current on the hump";
  parameter Real Vp(unit = "V") = 1e-3 "where the hump is";
  Real i(unit = "A", start = -1e-5, fixed = true, nominal = 1e-4) "current";
  Real v(unit = "V", start = 0.7) "at the diode: a guess on the flat side, which leads nowhere";
equation
  L * der(i) = E - R * i - v;
  i = homotopy(actual = Ip * v / Vp * exp(1 - v / Vp), simplified = Ip / Vp * v);
  annotation(experiment(StopTime = 5e-6, Tolerance = 1e-8));
end TunnelDiode;
