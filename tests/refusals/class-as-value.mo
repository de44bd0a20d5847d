model M
  package P
  end P;
  Real x = P;
end M;
