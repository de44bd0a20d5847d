model HeatRod "A rod that cools at its ends; the heat equation by lines"
  parameter Integer n = 49 "points inside";
  parameter Real length(unit = "m") = 1;
  parameter Real a(unit = "m2/s") = 0.01 "diffusivity";
  parameter Real T0(unit = "K") = 1 "scale of the temperature";
  Real T[n](each unit = "K", each fixed = true,
            start = {T0 * i * (n + 1 - i) / (n + 1) ^ 2 for i in 1:n}) "temperature above that of the ends";
protected
  parameter Real dx(unit = "m") = length / (n + 1);
equation
  for i in 1:n loop
    der(T[i]) = a / dx ^ 2 * ((if i > 1 then T[i - 1] else 0) - 2 * T[i]
                              + (if i < n then T[i + 1] else 0));
  end for;
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end HeatRod;
