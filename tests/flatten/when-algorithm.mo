model WhenAlgorithm
  Integer n(start = 0);
  Real x(start = 1);
equation
  der(x) = -x;
algorithm
  when x < 0.5 then
    n := pre(n) + 1;
    n := 2*n;
    reinit(x, 1);
  end when;
end WhenAlgorithm;
