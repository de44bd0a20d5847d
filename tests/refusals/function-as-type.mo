model M
  function f
    input Real x;
    output Real y;
  protected
    g z;
  algorithm
    y := x;
  end f;
  function g
    input Real x;
    output g y;
  algorithm
  end g;
  function h
    input Real x;
    output M y;
  algorithm
  end h;
  function k
    input H y;
    output Real z;
  algorithm
    z := y.a;
  end k;
  model H
    Real a = 1;
  end H;
  H b;
  Real u = f(1), v = g(2), w = k(b);
equation
  h(1);
end M;
