model LotkaVolterra "Hares and lynxes"
  parameter Real birth(unit = "1/y") = 1.1 "of hares";
  parameter Real hunt(unit = "1/y") = 0.4 "hares caught by each lynx";
  parameter Real growth(unit = "1/y") = 0.1 "lynxes for each hare";
  parameter Real death(unit = "1/y") = 0.4 "of lynxes";
  Real hares(start = 10, fixed = true), lynxes(start = 5, fixed = true);
  Real invariant = growth * hares - death * log(hares) + hunt * lynxes - birth * log(lynxes)
    "stays as it is";
equation
  der(hares) = (birth - hunt * lynxes) * hares;
  der(lynxes) = (growth * hares - death) * lynxes;
  annotation(experiment(StopTime = 40, Tolerance = 1e-8));
end LotkaVolterra;
