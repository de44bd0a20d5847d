model M
  Real x, y;
equation
  x = 2*output;
end M;
