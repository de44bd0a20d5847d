// {e for i in 1:0} and its sum have the type that e would have.
model ArrayNone
  record R
    Integer k;
    Real x;
  end R;
  function twice
    input Integer i;
    output Integer j = 2*i;
  algorithm
  end twice;
  parameter Boolean b[0];
  parameter R r[0];
  parameter Integer k[0];
  Integer n = sum(if b[i] then 1 else 0 for i in 1:size(b, 1));
  Integer p = product(r[i].k*i - 1 for i in 1:0);
  Integer q = sum(twice(k[i]) for i in 1:size(k, 1)) + sum(abs(i) for i in 1:0);
  Integer empty[0] = {i + j for i in 1:0, j in 1:0};
  Boolean flags[0] = {not b[i] for i in 1:0};
  Real x = sum(r[i].x for i in 1:0) + sum(i/2 for i in 1:0) + sum(if b[i] then 1 else time for i in 1:0);
  Boolean all = every({b[i] and i > 1 for i in 1:0});
  function every
    input Boolean b[:];
    output Boolean y = true;
  algorithm
    for i in 1:size(b, 1) loop
      y := y and b[i];
    end for;
  end every;
end ArrayNone;
