// terminate in 'if': as soon as the condition holds; inside of 'when' only where it holds.
model TerminateInIf
  Real x(start = 0, fixed = true);
  Real y;
equation
  der(x) = 1;
  if x > 0.5 then
    terminate("x is " + String(x));
  end if;
  when x > 0.2 then
    if y > 3 then
      terminate("y is large");
    end if;
  end when;
algorithm
  y := 2*x;
  if y > 2 then
    terminate("end");
  end if;
end TerminateInIf;
