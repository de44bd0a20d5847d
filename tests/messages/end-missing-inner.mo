package P
  model A
    Real x;
end P;
