// An input of the model that is connected gives its value; inputs may be in records and in connectors
// of connectors.
connector In = input Real;
connector Out = output Real;
block Gain
  In u;
  Out y = 2*u;
end Gain;
record R
  Real a, b;
end R;
connector Bus
  input Real x;
  Nested nested;
  connector Nested
    input Real z;
  end Nested;
end Bus;
model ConnectInput
  In u;
  Out y;
  Gain g, h;
  input R r;
  Bus bus;
equation
  connect(u, g.u);
  connect(g.y, h.u);
  connect(h.y, y);
end ConnectInput;
