model Tank
  Real level = time;
end Tank;
model M
  Tank tank;
  Real x = tank.levl;
end M;
