partial model M
  Real x;
end M;
model N
  M m;
end N;
