model M
  Real x[9223372036854775807];
end M;
