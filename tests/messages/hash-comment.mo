model M
  # a comment
  Real x;
end M;
