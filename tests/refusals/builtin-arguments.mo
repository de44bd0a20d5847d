model M
  Real x = sin(1, 2);
end M;
