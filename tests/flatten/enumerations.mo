type Mode = enumeration(off "nothing", slow, fast);
model Enumerations
  parameter Mode start_mode = Mode.slow;
  Mode m = if time < 1 then start_mode else Mode.fast;
  parameter Real speed[Mode] = {0, 1, 5};
  Real v = speed[m];
  Real total = sum(speed[i] for i in Mode);
  Boolean moving = m > Mode.off;
  Integer number = Integer(m);
end Enumerations;
