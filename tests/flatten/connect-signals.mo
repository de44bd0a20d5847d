connector RealInput = input Real;
connector RealOutput = output Real;
block Gain
  RealInput u;
  RealOutput y = 2*u;
end Gain;
model ConnectSignals
  RealInput u;
  RealOutput y;
  Gain g[2];
equation
  connect(u, g[1].u);
  connect(g[1].y, g[2].u);
  connect(g[2].y, y);
end ConnectSignals;
