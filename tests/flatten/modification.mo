model Inner
  parameter Real a = 1;
  parameter Real b = 2*a;
  Real x = a + b*time;
end Inner;
model Middle
  parameter Real q = 5;
  Inner inner1(a = q);
end Middle;
model Modification "the outer modification wins, member by member"
  Middle m(inner1(b = 7), q = 6);
  Middle n(inner1.a = 3);
end Modification;
