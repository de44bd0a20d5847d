model World
  parameter Real g = 9.81;
end World;
model Ball
  outer World world;
  Real v(start = 0);
equation
  der(v) = -world.g;
end Ball;
model Box
  Ball ball;
end Box;
model InnerOuter
  inner World world(g = 1.62);
  Box box;
end InnerOuter;
