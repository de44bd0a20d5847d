model Tank
  Real x;
end Tenk;
