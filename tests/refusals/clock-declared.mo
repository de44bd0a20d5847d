model Digital
  Clock c = Clock(0.1);
  Real u = time, y;
equation
  when c then
    y = sample(u, c);
  end when;
end Digital;
