model M
  function f
    input Real x;
    input Integer n;
    output Real y = x;
  algorithm
    for i in 1:n loop
      i := 2;
      y := y + i;
    end for;
  end f;
  Integer n(start = 0);
  Real x, y = f(time, n);
algorithm
  when time > 0.5 then
    n := 3;
  end when;
algorithm
  x := 0;
  for i in 1:3 loop
    i := 2;
    x := x + i;
  end for;
end M;
