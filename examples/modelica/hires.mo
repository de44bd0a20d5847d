model Hires "How light steers a plant's growth: eight reactants, a stiff system"
  Real Pr(start = 1, fixed = true), Pfr(start = 0, fixed = true);
  Real PrX(start = 0, fixed = true), PfrX(start = 0, fixed = true);
  Real PrX2(start = 0, fixed = true), PfrX2(start = 0, fixed = true);
  Real PfrX2E(start = 0, fixed = true), E(start = 0.0057, fixed = true);
protected
  Real fast = 280 * PfrX2 * E "the reaction of two";
equation
  der(Pr) = -1.71 * Pr + 0.43 * Pfr + 8.32 * PrX + 0.0007;
  der(Pfr) = 1.71 * Pr - 8.75 * Pfr;
  der(PrX) = -10.03 * PrX + 0.43 * PfrX + 0.035 * PrX2;
  der(PfrX) = 8.32 * Pfr + 1.71 * PrX - 1.12 * PfrX;
  der(PrX2) = -1.745 * PrX2 + 0.43 * PfrX2 + 0.43 * PfrX2E;
  der(PfrX2) = -fast + 0.69 * PfrX + 1.71 * PrX2 - 0.43 * PfrX2 + 0.69 * PfrX2E;
  der(PfrX2E) = fast - 1.81 * PfrX2E;
  der(E) = -fast + 1.81 * PfrX2E;
  annotation(experiment(StopTime = 321.8122, Tolerance = 1e-8));
end Hires;
