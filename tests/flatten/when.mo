model Bounce
  parameter Real e = 0.7;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0 then
    reinit(v, -e*pre(v));
    n = pre(n) + 1;
  elsewhen n > 5 then
    terminate("enough");
  end when;
end Bounce;
