package P
  constant Real c = 1;
end P;
model M
  P p;
end M;
