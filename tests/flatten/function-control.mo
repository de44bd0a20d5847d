function clip
  input Real x;
  input Real low, high;
  output Real y;
algorithm
  y := x;
  if x < low then
    y := low;
    return;
  end if;
  if x > high then
    y := high;
  end if;
end clip;
model FunctionControl
  Real x = clip(time, 1, 2);
end FunctionControl;
