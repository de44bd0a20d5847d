model M
  /* outer /* inner */ outer */
  Real x;
end M;
