record R
  Real a;
end R;
model M
  R r = R(a = 1, b = 2);
end M;
