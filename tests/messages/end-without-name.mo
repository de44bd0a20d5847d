model Tank
  Real x;
end;
