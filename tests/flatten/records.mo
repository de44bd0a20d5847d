record Point
  Real x;
  Real y;
end Point;
record Line
  Point from, to;
end Line;
model Records
  Point a = Point(1, y = 2);
  Point b(x = 3, y = time);
  Line l;
  Real d = l.to.y - l.from.y;
equation
  l.from = a;
  l.to = b;
end Records;
