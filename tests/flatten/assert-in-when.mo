// What is asserted in 'when', also by a function that is called there, is asserted at its events.
model AssertInWhen
  function error
    input String string;
  algorithm
    assert(false, string);
  end error;
  function root
    input Real x;
    output Real y;
  algorithm
    assert(x >= 0, "no root of " + String(x));
    y := sqrt(x);
  end root;
  Real x = 1 - time;
  discrete Real y;
  Integer n(start = 0);
equation
  when x < 0.5 then
    y = root(x);
    error("broken at last");
  end when;
algorithm
  when x < 0.2 then
    n := pre(n) + 1;
    assert(n < 2, "twice");
    if n > 3 then
      error("more than three");
    end if;
  end when;
end AssertInWhen;
