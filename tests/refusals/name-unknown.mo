model M
  Real x = zeta;
end M;
