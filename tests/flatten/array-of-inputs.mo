model ArrayOfInputs
  parameter Integer n = 2;
  input Real u[n];
  output Real y = sum(u);
end ArrayOfInputs;
