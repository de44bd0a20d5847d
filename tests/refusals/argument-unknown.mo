model M
  function f
    input Real mass;
    output Real y = 2*mass;
  algorithm
  end f;
  function g
    input Real a, b, c;
    output Real y = a + b + c;
  algorithm
  end g;
  Real x = f(xx = 1), y = f(mas = 1), z = g(1, 2, q = 3), w = f(1, y = 3);
end M;
