function f(Real x)
  output Real y;
algorithm
  y := x;
end f;
