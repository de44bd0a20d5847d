model R
  parameter Real resistance = 1;
  Real u = resistance*time;
end R;
model M
  R r(resistence = 2);
end M;
