model M
  type Count = Integer(min = 0);
  Boolean b(unit = "m", start = true) = time > 1;
  Count n(nominal = 10, max = 3) = 2;
  parameter String s(min = "a", quantity = "name") = "b";
end M;
