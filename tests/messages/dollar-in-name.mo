model M
  Real a$b;
end M;
