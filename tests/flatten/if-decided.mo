function pick "the size shows which branch can be executed"
  input Integer n;
  output Real y[n];
algorithm
  if n == 1 then
    y[1] := 10;
  else
    y[1] := 1;
    y[2] := 2;
  end if;
end pick;
model IfDecided
  parameter Integer n = 1;
  Real y[n] = pick(n);
end IfDecided;
