struct S
  Real x;
end S;
