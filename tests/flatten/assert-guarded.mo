// A function that is called under a condition asserts under that condition only.
model AssertGuarded
  function error
    input String words;
  algorithm
    assert(false, words);
  end error;
  function root
    input Real x;
    output Real y;
  algorithm
    assert(x >= 0, "negative: " + String(x));
    y := sqrt(x);
  end root;
  parameter Real p;
  Real x = time - p;
  Real y;
equation
  if x > 5 then
    error("x is " + String(x));
  end if;
  if x > 0 then
    y = root(x);
  else
    y = 0;
  end if;
end AssertGuarded;
