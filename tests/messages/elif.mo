model M
  Real x = if time > 2 then 1 elif time > 1 then 2 else 3;
end M;
