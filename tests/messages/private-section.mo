model M
private
  Real x;
end M;
