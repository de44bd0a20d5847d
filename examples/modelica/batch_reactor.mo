model BatchReactor "A becomes B becomes C in a cooled vessel that heats itself"
  parameter Real k0[2](each unit = "1/s") = {2e7, 5e9} "rates without barrier";
  parameter Real E[2](each unit = "K") = {6500, 9000} "barriers, over the gas constant";
  parameter Real rise[2](each unit = "K") = {60, 40} "warming by a whole reaction";
  parameter Real T_jacket(unit = "K") = 300, cooling(unit = "1/s") = 0.01;
  Real A(start = 1, fixed = true), B(start = 0, fixed = true) "amounts";
  Real C = 1 - A - B;
  Real T(unit = "K", start = 330, fixed = true, nominal = 300) "temperature";
  Real r[2](each unit = "1/s") "rates of the reactions";
equation
  r = k0 .* exp(-E / T) .* {A, B};
  der(A) = -r[1];
  der(B) = r[1] - r[2];
  der(T) = rise * r - cooling * (T - T_jacket);
  annotation(experiment(StopTime = 200, Tolerance = 1e-8));
end BatchReactor;
