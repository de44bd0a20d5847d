model M
  extends 3;
end M;
