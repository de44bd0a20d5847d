function f
  input Real x;
  output Real y;
  external "C" y = my_function(x);
end f;
model M
  Real y = f(time);
end M;
