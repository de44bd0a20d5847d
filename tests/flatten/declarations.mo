model Declarations "variables of all types and their attributes"
  constant Real c = 2.5;
  parameter Integer n(min = 1) = 3 "how many";
  parameter Boolean on = true;
  parameter String s = "text";
  Real x(start = 1, fixed = true, unit = "m", nominal = 10, min = -5, max = 5);
  discrete Real d(start = 0);
  Integer k(start = n);
equation
  der(x) = -c*x;
  when x < 0.5 then
    d = pre(d) + 1;
    k = pre(k) + n;
  end when;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end Declarations;
