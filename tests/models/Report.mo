model Report "decay with names that try to be markup: </script><script>alert(1)</script>"
  parameter Real k(unit = "1/s") = 1 "rate & <b>bold</b>";
  Real x(start = 1, fixed = true, unit = "m") "what decays";
  Real y(unit = "m");
  Real minus_x(unit = "m") = -x;
  Real angle(unit = "rad") "grows";
  Real pressure(unit = "Pa") = 101325 + 1e-3 * sin(time) "varies little";
  Real jump = if time < 2 then 1 else -1;
  Real '</script><img src=x onerror=alert(1)>';
equation
  der(x) = -k * x;
  y = 2 * x + sin(time);
  angle = time;
  '</script><img src=x onerror=alert(1)>' = x * time;
  annotation(experiment(StopTime = 4));
end Report;
