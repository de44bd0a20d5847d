function square
  input Real x;
  output Real y;
algorithm
  y := x^2;
end square;
model FunctionVectorized
  Real v[3] = {1, 2, 3}*time;
  Real w[3] = square(v);
end FunctionVectorized;
