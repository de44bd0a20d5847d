// Sizes may be redeclared without 'replaceable'.
model Any
  Real x[:] = ones(size(x, 1));
end Any;
model RedeclareSizes
  Any a(redeclare Real x[2]);
end RedeclareSizes;
