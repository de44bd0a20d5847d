record R
  Real a;
  Real b[2];
end R;
model RecordArrays
  parameter R r[2] = {R(1, {2, 3}), R(4, {5, 6})};
  Real x[2] = r.a*time;
  Real y = sum(r[2].b);
end RecordArrays;
