model M
  Real x = sqrt("a");
end M;
