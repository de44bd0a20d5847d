model M
  double x;
  float y;
  int n;
end M;
