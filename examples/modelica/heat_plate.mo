model HeatPlate "A plate with cold edges: the heat equation in two dimensions by lines"
  parameter Integer m = 10 "lines inside, each way";
  Real u[m + 2, m + 2](start = {{16 * x * (1 - x) * y * (1 - y)
                                 for y in linspace(0, 1, m + 2)} for x in linspace(0, 1, m + 2)})
    "temperature, the edges among the unknowns";
protected
  parameter Real h = 1 / (m + 1);
initial equation
  for i in 2:m + 1, j in 2:m + 1 loop
    u[i, j] = 16 * (i - 1) * h * (1 - (i - 1) * h) * (j - 1) * h * (1 - (j - 1) * h);
  end for;
equation
  for i in 2:m + 1, j in 2:m + 1 loop
    der(u[i, j]) = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]) / h ^ 2;
  end for;
  u[1, :] = zeros(m + 2);
  u[m + 2, :] = zeros(m + 2);
  u[2:m + 1, 1] = zeros(m);
  u[2:m + 1, m + 2] = zeros(m);
  annotation(experiment(StopTime = 0.1, Tolerance = 1e-8));
end HeatPlate;
