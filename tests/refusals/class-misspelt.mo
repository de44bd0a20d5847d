model M
  Rael x = 1;
end M;
