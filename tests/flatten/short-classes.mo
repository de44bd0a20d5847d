type Length = Real(unit = "m", min = 0);
type Point = Real[2](each unit = "m");
model Point3
  Real x = 3;
end Point3;
model Three = Point3(x = 4);
model ShortClasses
  Length l = 2 + time;
  Point p = {l, 2*l};
  Three t;
end ShortClasses;
