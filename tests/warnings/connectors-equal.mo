package P
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model R
    Pin p, n;
  equation
    p.v - n.v = 2*p.i;
    p.i + n.i = 0;
  end R;
  model M
    R r1, r2;
  equation
    r1.n = r2.p;
  end M;
end P;
