model M
  double x = 1;
end M;
