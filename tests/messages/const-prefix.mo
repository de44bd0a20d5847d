model M
  const Real g = 9.81;
end M;
