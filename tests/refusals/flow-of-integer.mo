connector C
  flow Integer n;
end C;
model M
  C c;
end M;
