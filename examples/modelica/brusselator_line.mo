model BrusselatorLine "The Brusselator in a tube: reaction and diffusion by lines"
  parameter Integer n = 40 "points inside";
  parameter Real alpha = 0.02 "diffusion";
  Real u[n](start = {1 + sin(2 * 3.141592653589793 * i * dx) for i in 1:n}, each fixed = true);
  Real v[n](each start = 3, each fixed = true);
protected
  parameter Real dx = 1 / (n + 1);
  Real U[n + 2] = cat(1, {1}, u, {1}), V[n + 2] = cat(1, {3}, v, {3}) "with the ends";
equation
  der(u) = ones(n) + u .^ 2 .* v - 4 * u + alpha / dx ^ 2 * (U[1:n] - 2 * u + U[3:n + 2]);
  der(v) = 3 * u - u .^ 2 .* v + alpha / dx ^ 2 * (V[1:n] - 2 * v + V[3:n + 2]);
  annotation(experiment(StopTime = 10, Tolerance = 1e-8));
end BrusselatorLine;
