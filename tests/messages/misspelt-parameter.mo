model M
  paramter Real p = 3;
end M;
