model M
  Real speed(start = 1);
equation
  der(sped) = -speed;
end M;
