model Robertson "Three species, rates nine decades apart: stiff, with a balance instead of an equation"
  Real A(start = 1, fixed = true), B(start = 0, fixed = true, nominal = 1e-4), C "amounts";
equation
  der(A) = -0.04 * A + 1e4 * B * C;
  der(B) = 0.04 * A - 1e4 * B * C - 3e7 * B ^ 2;
  A + B + C = 1;
  annotation(experiment(StopTime = 4e5, Tolerance = 1e-8));
end Robertson;
