package P
function root
  input Real a; input Integer n; input Boolean up;
  output Real x; output Integer k; output Boolean small;
protected Real v[3];
algorithm
  x := 1; k := 0;
  while abs(x*x - a) > 1e-10 loop
    x := (x + a/x)/2; k := k + 1;
    v[mod(k, 3) + 1] := x;
    if k > 50 then break; end if;
  end while;
  small := x < 1.2 and up;
  if small then return; end if;
  x := x + n*0.001 + 0*v[1];
  assert(a > 0, "a is " + String(a));
end root;
model M
  Real y, w; Integer k; Boolean s;
  Real z(start=0, fixed=true);
equation
  (y, k, s) = root(1 + time, 2, time > 0.1);
  der(z) = y;
  w = if s then 1 else 2;
  annotation(experiment(StopTime=1));
end M;
end P;
