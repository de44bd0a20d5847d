// Connectors that are connected as slices of arrays count as connected, each once.
package P
  connector C Real e; flow Real f; end C;
  connector In = input Real;
  model Part
    C a, b;
    In u;
    parameter Integer n[3] = {cardinality(a), cardinality(b), cardinality(u)};
  equation
    a.e = b.e + u;
    a.f + b.f = 0;
  end Part;
  model M
    C left, right;
    Part part[3];
    In u[3] = {time, 2, 3};
  equation
    left.e = 1;
    right.f = 0;
    connect(left, part[1].a);
    connect(part[1:2].b, part[2:3].a);
    connect(part[3].b, right);
    connect(u, part.u);
  end M;
end P;
