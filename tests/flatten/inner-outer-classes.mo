// The spec's field function: the function, model, type or package of the model around.
model Particle
  parameter Real x = 0;
  outer function field = Nothing;
  outer model Weight = Light;
  outer package Planet = NoPlanet;
  Real a = field(x) + Planet.g;
  Weight w;
protected
  function Nothing
    input Real x;
    output Real y;
  algorithm
    y := 0;
  end Nothing;
  model Light
    parameter Real m = 0;
  end Light;
  package NoPlanet
    constant Real g = 0;
  end NoPlanet;
end Particle;
model Pair
  Particle one(x = 1), two(x = 2);
end Pair;
model InnerOuterClasses
  inner function field = Linear(slope = 5);
  inner model Weight = Heavy(m = scale*2);
  inner package Planet
    constant Real g = 9;
  end Planet;
  parameter Real scale = 3;
  Pair pair;
  Inside inside;
  function Linear
    input Real x;
    input Real slope = 1;
    output Real y;
  algorithm
    y := slope*x;
  end Linear;
  model Heavy
    parameter Real m = 1;
  end Heavy;
  model Inside
    inner function field = Linear;
    Particle near(x = 1);
  end Inside;
end InnerOuterClasses;
