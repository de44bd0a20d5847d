model M
  Real x "Größe";
end M;
