model MassSpring "Two masses between two walls, with springs and dampers: they swap their energy"
  import Parts.Translational.*;
  Wall left(s0 = 0), right(s0 = 3);
  Mass first(m = 1, s(start = 1.5, fixed = true), v(start = 0, fixed = true));
  Mass second(m = 1, s(start = 2, fixed = true), v(start = 0, fixed = true));
  Spring at_left(c = 20, d0 = 1), between(c = 2, d0 = 1), at_right(c = 20, d0 = 1);
  Damper damper[2](each k = 0.1);
equation
  connect(left.a, at_left.a);
  connect(at_left.b, first.a);
  connect(first.a, between.a);
  connect(between.b, second.a);
  connect(second.a, at_right.a);
  connect(at_right.b, right.a);
  connect(damper[1].a, left.a);
  connect(damper[1].b, first.a);
  connect(damper[2].a, second.a);
  connect(damper[2].b, right.a);
  annotation(experiment(StopTime = 20, Tolerance = 1e-8));
end MassSpring;
