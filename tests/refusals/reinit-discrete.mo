model M
  Integer n(start = 0);
equation
  when time > 1 then
    reinit(n, 2);
  end when;
end M;
