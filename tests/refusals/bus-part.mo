package P
  connector Out = output Real;
  expandable connector Bus
  end Bus;
  model M
    Bus bus;
    Out y[2] = {1, 2};
    Out z = 3;
  equation
    connect(y, bus.x[:]);
    connect(z, bus.k[0]);
  end M;
end P;
