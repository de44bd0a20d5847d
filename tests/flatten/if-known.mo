model IfKnown "only the branch that counts is there"
  parameter Integer order = 2;
  Real x;
  Real y = time if order > 1;
equation
  if order == 1 then
    x = time;
  else
    der(x) = 1;
  end if;
end IfKnown;
