model Top
  Real x = time;
end Top;
model Left
  extends Top;
  Real l = x;
end Left;
model Right
  extends Top;
  Real r = x;
end Right;
model Diamond "x is inherited by two ways and is there once"
  extends Left;
  extends Right;
end Diamond;
