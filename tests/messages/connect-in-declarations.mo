model M
  Pin a, b;
  connect(a, b);
end M;
