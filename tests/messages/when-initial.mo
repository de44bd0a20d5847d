model M
  Real x, y;
equation
  when initial then
    y = 1;
  end when;
end M;
