package P
  constant Real c = 1;
end P;
