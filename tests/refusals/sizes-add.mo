model M
  Real a[2] = {1, 2};
  Real b[3] = {1, 2, 3};
  Real c = sum(a + b);
end M;
