model M
  string name = "a";
end M;
