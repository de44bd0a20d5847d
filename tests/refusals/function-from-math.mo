model M
  Real x = arctan(time);
end M;
