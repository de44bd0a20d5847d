model A0
  Real x = 1;
end A0;
model A1
  A0 a, b;
end A1;
model A2
  A1 a, b;
end A2;
model A3
  A2 a, b;
end A3;
model A4
  A3 a, b;
end A4;
model A5
  A4 a, b;
end A5;
model A6
  A5 a, b;
end A6;
model A7
  A6 a, b;
end A7;
model A8
  A7 a, b;
end A8;
model A9
  A8 a, b;
end A9;
model A10
  A9 a, b;
end A10;
model A11
  A10 a, b;
end A11;
model A12
  A11 a, b;
end A12;
model A13
  A12 a, b;
end A13;
model A14
  A13 a, b;
end A14;
model A15
  A14 a, b;
end A15;
model A16
  A15 a, b;
end A16;
model A17
  A16 a, b;
end A17;
model A18
  A17 a, b;
end A18;
model A19
  A18 a, b;
end A19;
model A20
  A19 a, b;
end A20;
model A21
  A20 a, b;
end A21;
model A22
  A21 a, b;
end A22;
model A23
  A22 a, b;
end A23;
model A24
  A23 a, b;
end A24;
model A25
  A24 a, b;
end A25;
model A26
  A25 a, b;
end A26;
model A27
  A26 a, b;
end A27;
model A28
  A27 a, b;
end A28;
model A29
  A28 a, b;
end A29;
model A30
  A29 a, b;
end A30;
model A31
  A30 a, b;
end A31;
model A32
  A31 a, b;
end A32;
model A33
  A32 a, b;
end A33;
model A34
  A33 a, b;
end A34;
model A35
  A34 a, b;
end A35;
model A36
  A35 a, b;
end A36;
model A37
  A36 a, b;
end A37;
model A38
  A37 a, b;
end A38;
model A39
  A38 a, b;
end A39;
model A40
  A39 a, b;
end A40;
