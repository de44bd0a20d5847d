model M
  Integer i = if time > 1 then 2 else 1;
  Integer k[2] = {i, i};
  parameter Integer n = 3;
  Real x = der(i), y[2] = der(k), z = der(n);
end M;
