model WhenSeveral
  Real x(start = 0), y(start = 0);
equation
  when {sample(0, 0.1), time > 1, initial()} then
    x = time;
    y = x + pre(y);
  end when;
end WhenSeveral;
