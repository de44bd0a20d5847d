model M
  Real p(unit = "Pa") = time;
  Real T(unit = "K") = 300 + time;
  Boolean b = p > T;
end M;
