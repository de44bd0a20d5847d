model Sir "An epidemic: susceptible, infected, recovered parts of a population"
  parameter Real contact(unit = "1/d") = 0.3, recovery(unit = "1/d") = 0.1;
  Real S(start = 0.999, fixed = true), I(start = 0.001, fixed = true), R "parts of the population";
  Real reproduction = contact / recovery * S "falls below 1 at the peak";
equation
  der(S) = -contact * S * I;
  der(I) = contact * S * I - recovery * I;
  S + I + R = 1;
  annotation(experiment(StopTime = 150, Tolerance = 1e-8));
end Sir;
