model M
  replaceable Real x constrainedby 3;
end M;
