model M
  parameter Real p = 3,5;
end M;
