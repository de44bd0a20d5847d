model M
  parameter Real p = 2;
  constant Real c = 3*p;
end M;
