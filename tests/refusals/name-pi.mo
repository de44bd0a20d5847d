model M
  Real x = 2*pi*time;
end M;
