model M
  Real '' = 3;
end M;
