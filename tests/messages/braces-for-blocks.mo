model M {
  Real x;
}
