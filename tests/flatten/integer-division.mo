model IntegerDivision
  parameter Integer a = 7, b = -2;
  parameter Integer d = div(a, b), m = mod(a, b), r = rem(a, b);
  parameter Real q = a/b;
  parameter Real e = 2^10;
  parameter Integer s = abs(b)*sign(-3);
end IntegerDivision;
