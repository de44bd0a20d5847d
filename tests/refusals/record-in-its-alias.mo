package P
  record R
    Real a;
    Same r[2];
  end R;
  record Same = R;
  function f
    input Real x;
    output Real y;
  protected
    R r;
  algorithm
    y := x;
  end f;
  model M
    Real y = f(time);
  end M;
end P;
