expandable connector Bus
end Bus;
model M
  Bus a, b;
equation
  connect(a.x, b.y);
end M;
