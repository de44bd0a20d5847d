model M
  parameter Real a = 2*b;
  parameter Real b = c + 1;
  parameter Real c = sin(a);
  Real x = a*time;
end M;
