model Hessenberg "y' = f(y, z), 0 = g(y) with scalar y, z: index 2"
  parameter Real a = 2;
  Real y(start = 1), z(start = 0.5);
equation
  der(y) = a * z - y ^ 2;
  0 = y ^ 3 - 1;
end Hessenberg;
