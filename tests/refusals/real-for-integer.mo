model M
  parameter Integer n = 2.5;
end M;
