model A
  Real x = 1;
end A;
model A
  Real x = 2;
end A;
