// Branches name their variables in another order, and some in one branch only: each equation of a
// branch is there once.
model M
  Real s = time - 1, p, q, r;
equation
  if s > 0 then
    p = 0;
    q + r = 0;
    q = 2 * s;
  else
    q = 0;
    r + p = 0;
    r = 3 * s;
  end if;
end M;
