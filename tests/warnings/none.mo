model M "derived units, prefixes, products: nothing to say"
  parameter Real m(unit = "kg") = 1, k(unit = "N/m") = 2, g(unit = "m/s2") = 9.81;
  parameter Real c(unit = "N.s/m") = 0.1, A(unit = "cm2") = 4, rho(unit = "kg/m3") = 1;
  Real x(unit = "m", start = 1), v(unit = "m.s-1"), E(unit = "kJ"), P(unit = "W");
  Real p(unit = "Pa"), q(unit = "rad/s") = 3*time, f(unit = "Hz") = q/6.28;
equation
  der(x) = v;
  m*der(v) = -k*x - c*v + m*g;
  E = m*v^2/2 + k*x^2/2 - m*g*x;
  P = c*v*abs(v) + der(E);
  p*A = if x > 0 then m*g else rho*A*v^2;
end M;
