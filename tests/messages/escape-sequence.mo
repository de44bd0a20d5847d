model M
  Real [31mx;
end M;
