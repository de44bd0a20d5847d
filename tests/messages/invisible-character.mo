model M
  Real x; // a‮b
end M;
