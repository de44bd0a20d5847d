model M
  Real x, y;
equation
  while x > 0 loop
    y = 1;
  end while;
end M;
