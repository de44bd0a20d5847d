model M
  Real x “text”;
end M;
