model M
  String s = "C:\dir\new";
end M;
