model Strings
  parameter String a = "x" + "y";
  parameter Boolean same = a == "xy";
  parameter Integer n = if a < "z" then 1 else 2;
  constant String t = String(2.5) + String(true) + String(7);
  Real x = n*time;
end Strings;
