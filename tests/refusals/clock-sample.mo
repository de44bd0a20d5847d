model Held
  Real u = time, y;
equation
  y = hold(sample(u));
end Held;
