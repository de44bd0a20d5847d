model M
public:
  Real x;
end M;
