function f
  input Real u;
  output Real y;
protected
  Real w[5000000];
algorithm
  y := size(w, 1) + u;
end f;
model M
  Real x = f(time);
end M;
