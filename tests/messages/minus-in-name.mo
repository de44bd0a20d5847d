model M
  Real my-name = 3;
end M;
