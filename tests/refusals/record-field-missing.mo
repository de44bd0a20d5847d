record R
  Real a;
  Real b;
end R;
model M
  R r = R(1);
end M;
