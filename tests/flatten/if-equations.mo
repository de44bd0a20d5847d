model IfEquations
  parameter Boolean simple = false;
  Real x, y;
equation
  if time < 1 then
    x = 1;
    y = time;
  elseif time < 2 then
    x = 2;
    y = x;
  else
    y = 3;
    x = 0;
  end if;
end IfEquations;
