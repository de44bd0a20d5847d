model M
  Real x, y;
equation
  α = 3;
end M;
