function law
  input Real x;
  input Real k = 1;
  output Real y;
algorithm
  y := k*x;
end law;
model World
  parameter Real k = 3;
  function force = law(k = k);
end World;
model Ball
  outer World world;
  Real f = world.force(time);
end Ball;
model FunctionOfComponent
  inner World world(k = 5);
  Ball ball;
end FunctionOfComponent;
