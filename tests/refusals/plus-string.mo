model M
  Real x = 1 + "a";
end M;
