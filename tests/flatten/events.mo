model Events
  Real x = sin(time);
  Boolean up = x > 0.5;
  Boolean changed = change(up), rising = edge(up);
  Real r = if noEvent(x > 0) then x else 0;
  Real s = smooth(1, if x > 0 then x^2 else 0);
  Integer i = integer(10*x);
  Real m = mod(time, 2) + div(time, 3) + floor(x) + ceil(x);
end Events;
