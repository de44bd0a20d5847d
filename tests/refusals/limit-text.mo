function f
  output String y = "ab";
algorithm
  for i in 1:60 loop
    y := y + y;
  end for;
end f;
model M
  parameter String s = f();
end M;
