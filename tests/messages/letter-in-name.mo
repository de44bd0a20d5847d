model M
  Real größe = 3;
end M;
