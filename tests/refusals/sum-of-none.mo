model M
  parameter Real x[0];
  Integer n = sum(if i > 1 then 1 else x[i] for i in 1:0);
  Integer k = sum(i/2 for i in 1:0);
end M;
