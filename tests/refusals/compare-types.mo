model M
  Boolean b = time > 1;
  Boolean c = b > 3;
end M;
