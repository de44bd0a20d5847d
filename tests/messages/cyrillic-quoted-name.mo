model M
  Real 'а' = 3;
end M;
