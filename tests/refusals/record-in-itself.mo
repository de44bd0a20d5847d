model M
  record R
    Real a;
    S s;
  end R;
  record S
    R r[2];
  end S;
  function f
    input Real x;
    output Real y;
  protected
    R r;
  algorithm
    y := x;
  end f;
  Real y = f(time);
end M;
