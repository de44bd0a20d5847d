type Level = Real(unit = "m");
model M
  Level Level = time;
end M;
