model M
  Real x; /* a comment
  Real y;
end M;
