// A String that an equation gives is that text.
model TextVariables
  parameter Integer n = 3;
  String s, t, u;
  Real x;
equation
  s = String(111.222);
  u = t + "!";
  t = "n is " + String(n);
  x = if u == "n is 3!" and s == "111.222" then 1 else 2;
  assert(time < 1, u);
end TextVariables;
