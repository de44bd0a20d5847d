model Burgers "A wave that grows steep: u_t + u u_x = mu u_xx by lines"
  parameter Integer n = 60 "points inside";
  parameter Real mu = 0.02 "viscosity";
  Real u[n](start = {sin(3.141592653589793 * i * dx) for i in 1:n}, each fixed = true);
protected
  parameter Real dx = 1 / (n + 1);
  Real all[n + 2] = cat(1, {0}, u, {0}) "with the ends, which rest";
equation
  for i in 1:n loop
    der(u[i]) = mu * (all[i] - 2 * all[i + 1] + all[i + 2]) / dx ^ 2
                - (all[i + 2] ^ 2 - all[i] ^ 2) / (4 * dx);
  end for;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end Burgers;
