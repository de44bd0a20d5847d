model M
  Real x, y;
equation
  break;
end M;
