model Algorithm
  Real x, y;
algorithm
  x := time;
  y := x + 1;
  x := x*y;
  if y > 3 then
    y := 3;
  end if;
end Algorithm;
