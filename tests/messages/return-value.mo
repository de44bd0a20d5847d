function f
  input Real x;
  output Real y;
algorithm
  return x;
end f;
