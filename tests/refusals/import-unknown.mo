package P
  constant Real c = 1;
end P;
model M
  import P.d;
  Real x = d;
end M;
