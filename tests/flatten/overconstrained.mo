record Angle "as if it were an orientation: one number too many around a loop"
  Real phi;
  function equalityConstraint
    input Angle a, b;
    output Real residue[0];
  algorithm
  end equalityConstraint;
end Angle;
connector Frame
  Angle R;
  flow Real t;
end Frame;
model Bar
  Frame a, b;
equation
  Connections.branch(a.R, b.R);
  a.R = b.R;
  a.t + b.t = 0;
end Bar;
model World
  Frame f;
equation
  Connections.root(f.R);
  f.R.phi = time;
end World;
model Body
  Frame f;
  Boolean free = Connections.isRoot(f.R);
equation
  Connections.potentialRoot(f.R);
  f.t = 1;
  if Connections.isRoot(f.R) then
    f.R.phi = 0;
  end if;
end Body;
model Loop "the last connection closes a loop and is broken; the lone body is a root"
  World w;
  Bar b[2];
  Body body, lone;
equation
  connect(w.f, b[1].a);
  connect(b[1].b, b[2].a);
  connect(b[1].b, body.f);
  connect(b[2].b, w.f);
end Loop;
