model M
  A a(redeclare model B
    Real x;
  end B);
end M;
