model M
  Real x;
end M
