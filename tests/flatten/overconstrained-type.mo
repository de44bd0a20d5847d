// A type with an equalityConstraint: around the ring of connections one is broken, which leaves the
// check of the angles instead of an equation.
type Angle
  extends Real;
  function equalityConstraint
    input Angle a;
    input Angle b;
    output Real residue[0];
  algorithm
    assert(abs(a - b) < 1e-10, "the angles differ");
  end equalityConstraint;
end Angle;
connector Pin
  Angle theta;
  flow Real i;
end Pin;
model Line
  Pin p, n;
equation
  Connections.branch(p.theta, n.theta);
  p.theta = n.theta;
  p.i + n.i = 0;
end Line;
model Source
  Pin p;
equation
  Connections.potentialRoot(p.theta);
  if Connections.isRoot(p.theta) then
    p.theta = time;
  end if;
  p.i = 1;
end Source;
model Load
  Pin p;
end Load;
model OverconstrainedType
  Source s;
  Line a, b;
equation
  connect(s.p, a.p);
  connect(a.n, b.p);
  connect(b.n, a.p);
end OverconstrainedType;
