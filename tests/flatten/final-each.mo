model Cell
  parameter Real R = 1;
  final parameter Real G = 1/R;
  Real i = G*time;
end Cell;
model FinalEach
  Cell cell[3](each R = 2);
  Cell other[2](R = {3, 4});
end FinalEach;
