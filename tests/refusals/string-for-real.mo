model M
  Real x = "one";
end M;
