model M
  Real x[9007199254740992];
end M;
