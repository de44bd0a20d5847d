model M
  parameter constant Real p = 3;
end M;
