model M
  Real x[:];
equation
  x = ones(3);
end M;
