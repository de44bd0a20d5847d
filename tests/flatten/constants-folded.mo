model ConstantsFolded
  constant Real pi = 4*atan(1);
  Real x = 2*pi*time + 0*time - 0;
  Real y = if true then x else 1/0;
  Boolean b = 1 < 2 and x > 0 or false;
end ConstantsFolded;
