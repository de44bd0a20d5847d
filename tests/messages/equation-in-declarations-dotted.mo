model M
  Real x;
  a.b[1].c = 3;
end M;
