// Variables of a function: what their sizes and values speak of may be declared later; x[:] has the
// size of what is assigned to it; type In = input Real makes inputs.
model FunctionOrder
  type In = input Real;
  type Out = output Real[2];
  function order
    input Real x;
    output Real y = total;
  protected
    Real total = sum(part);
    Real part[n] = fill(x, n);
    Integer n = 2 + 1;
  algorithm
  end order;
  function positive
    input Integer x[:];
    output Integer y[:];
  algorithm
    for i in 1:size(x, 1) loop
      if x[i] > 0 then
        y := cat(1, y, {x[i]});
      end if;
    end for;
  end positive;
  function prefixes
    In u;
    Out v;
  algorithm
    v := {u, 2*u};
  end prefixes;
  Real a = order(time);
  Integer p[:] = positive({-2, 1, 0, -1, 2});
  Real q[2] = prefixes(time);
end FunctionOrder;
