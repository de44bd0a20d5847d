model M
  Real x, y;
equation
  y = time;
  when time > 1 then
    x + y = 1;
  end when;
end M;
