model M
  import Nowhere.Constants.c;
  Real x = c;
end M;
