model M "an index that is only known while running is checked"
  Integer k = integer(3*time) + 1;
  parameter Real tab[3] = {10, 20, 30};
  Real x = tab[k];
end M;
