model ArrayConstructors
  parameter Integer n = 3;
  Real a[n] = {i^2 for i in 1:n};
  Real b[2, n] = {{i + 10*j for i in 1:n} for j in 1:2};
  Real c[4] = cat(1, {1, 2}, {3}, fill(4, 1));
  Real d[2, 2] = [a[1:2], a[2:3]];
  Real e[3] = linspace(0, 1, 3);
  Real f[5] = 0:0.25:1;
end ArrayConstructors;
