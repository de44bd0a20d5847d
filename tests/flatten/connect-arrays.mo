connector Pin
  Real v;
  flow Real i;
end Pin;
model R
  Pin p, n;
equation
  p.v - n.v = p.i;
  p.i + n.i = 0;
end R;
model ConnectArrays
  parameter Integer n = 3;
  R r[n];
equation
  r[1].p.v = time;
  r[n].n.v = 0;
  for k in 1:n - 1 loop
    connect(r[k].n, r[k + 1].p);
  end for;
end ConnectArrays;
