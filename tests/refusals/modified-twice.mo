model M
  Real x(start = 1, start = 2) = time;
end M;
