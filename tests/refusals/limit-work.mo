function f
  output Integer y = 1;
algorithm
  while y > 0 loop
    y := y + 1;
  end while;
end f;
model M
  parameter Integer n = f();
end M;
