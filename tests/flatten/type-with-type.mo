// A connector that extends a type of its own, which is redeclared.
connector Signal
  replaceable type Kind = Real;
  extends Kind;
end Signal;
connector Length = output Signal(redeclare type Kind = Real(unit = "m"));
model TypeWithType
  Length x = time;
  Signal y(redeclare type Kind = Real(unit = "s"), start = 2) = time;
end TypeWithType;
