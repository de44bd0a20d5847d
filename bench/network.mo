package Network "A grid of resistors with a capacitor at every node, for bench/models.c"
  connector Pin
    Real v;
    flow Real i;
  end Pin;

  partial model TwoPins
    Pin p, n;
    Real v, i;
  equation
    v = p.v - n.v;
    i = p.i;
    p.i + n.i = 0;
  end TwoPins;

  model Resistor
    extends TwoPins;
    parameter Real R = 1;
  equation
    v = R * i;
  end Resistor;

  model Capacitor
    extends TwoPins;
    parameter Real C = 1;
  equation
    C * der(v) = i;
  end Capacitor;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Unfinished "has no law"
    extends TwoPins;
  end Unfinished;

  model Missing "a grid in which one equation is missing"
    extends Grid;
    Unfinished part;
  equation
    connect(part.p, node[1, 1].p);
    connect(part.n, node[2, 2].p);
  end Missing;

  model Surplus "a grid with one equation too many"
    extends Grid;
  equation
    right[3, 3].i = 0.001;
  end Surplus;

  model Twice "a grid with an equation that is there already"
    extends Grid;
  equation
    right[3, 3].v = right[3, 3].R * right[3, 3].i;
  end Twice;

  model Grid "n x n nodes, about 18 n^2 equations; the corner is charged"
    parameter Integer n = 7;
    Resistor right[n, n - 1], down[n - 1, n];
    Capacitor node[n, n](v(start = {{if i + j == 2 then 1 else 0 for j in 1:n} for i in 1:n},
                           each fixed = true));
    Ground ground;
  equation
    for i in 1:n, j in 1:n loop
      connect(node[i, j].n, ground.p);
    end for;
    for i in 1:n, j in 1:n - 1 loop
      connect(right[i, j].p, node[i, j].p);
      connect(right[i, j].n, node[i, j + 1].p);
    end for;
    for i in 1:n - 1, j in 1:n loop
      connect(down[i, j].p, node[i, j].p);
      connect(down[i, j].n, node[i + 1, j].p);
    end for;
    annotation(experiment(StopTime = 10));
  end Grid;
end Network;
