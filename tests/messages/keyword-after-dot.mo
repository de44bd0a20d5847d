model M
  Real x, y;
equation
  x = a.end;
end M;
