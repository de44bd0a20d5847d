model M
  Real x;
end model;
