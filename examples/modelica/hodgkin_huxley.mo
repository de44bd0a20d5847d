package Nerve "The membrane of a nerve"
  function opening "rate of a gate: a u / (1 - exp(-u)), also at u = 0"
    input Real a(unit = "1/ms"), u;
    output Real rate(unit = "1/ms");
  algorithm
    rate := if abs(u) < 1e-6 then a * (1 + u / 2) else a * u / (1 - exp(-u));
  end opening;

  model HodgkinHuxley "A steady current makes the squid's axon fire again and again"
    parameter Real C(unit = "uF/cm2") = 1 "capacitance";
    parameter Real g[3](each unit = "mS/cm2") = {120, 36, 0.3} "sodium, potassium, leakage";
    parameter Real E[3](each unit = "mV") = {50, -77, -54.387} "their potentials";
    parameter Real current(unit = "uA/cm2") = 10;
    Real V(unit = "mV", start = -65, fixed = true, nominal = 100) "potential";
    Real m(start = 0.05, fixed = true), h(start = 0.6, fixed = true), n(start = 0.32, fixed = true)
      "gates that are open";
  equation
    C * der(V) = current - {g[1] * m ^ 3 * h, g[2] * n ^ 4, g[3]} * (fill(V, 3) - E);
    der(m) = opening(1, (V + 40) / 10) * (1 - m) - 4 * exp(-(V + 65) / 18) * m;
    der(h) = 0.07 * exp(-(V + 65) / 20) * (1 - h) - h / (1 + exp(-(V + 35) / 10));
    der(n) = opening(0.1, (V + 55) / 10) * (1 - n) - 0.125 * exp(-(V + 65) / 80) * n;
    annotation(experiment(StopTime = 50, Tolerance = 1e-8));
  end HodgkinHuxley;
end Nerve;
