function f
  output Real y;
  external "C" y = 3;
end f;
