model M
  Real x, y;
equation
  when x > 0
    y = 1;
  end when;
end M;
