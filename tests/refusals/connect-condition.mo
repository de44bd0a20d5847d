connector Pin
  Real v;
  flow Real i;
end Pin;
connector Flange
  Real phi;
  flow Real tau;
end Flange;
connector In = input Real;
connector Out = output Real;
model A
  Out y = time;
  In u;
end A;
model M
  A a;
equation
  if time > 1 then
    connect(a.y, a.u);
  end if;
end M;
