model Leaf
  parameter Real p = 1;
  Real x = p*time;
end Leaf;
model Twig
  Leaf leaf[2];
end Twig;
model Branch
  Twig twig(leaf(p = {1, 2}));
end Branch;
model NestedComponents
  Branch branch[2](twig(leaf(p = {{1, 2}, {3, 4}})));
end NestedComponents;
