model M
  Real x = sine(time);
end M;
