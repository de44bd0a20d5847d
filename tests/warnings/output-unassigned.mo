model M
  record R
    Real a, b;
  end R;
  partial function shape
    input Real x;
    output Real y, z;
    output R r;
    output Real none[0];
    output Real given = 2;
  end shape;
  function f
    extends shape;
  algorithm
    if x > 1 then
      (y, ) := g(x);
    end if;
    r.a := x;
  end f;
  function g
    input Real x;
    output Real y = 2*x;
    output Real k[2];
  algorithm
    for i in 1:2 loop
      k[i] := x;
    end for;
  end g;
  Real y, z;
equation
  (y, z) = f(time);
end M;
