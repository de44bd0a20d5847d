model M
  Real x;
  x := 3;
end M;
