type Axis = enumeration(x, y, z);
model EnumerationArray
  Real r[Axis];
  Real flag[Boolean] = {1, 2};
  Real s = r[Axis.y] + flag[true];
equation
  for a in Axis loop
    r[a] = Integer(a)*time;
  end for;
end EnumerationArray;
