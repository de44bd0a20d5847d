model Tank
  parameter Real area = 2;
  Real level = time / area;
end Tank;

model ValueOfModel
  Tank tank(area = 5) = 3;
end ValueOfModel;
