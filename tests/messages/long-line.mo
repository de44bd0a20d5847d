model M
equation
  x = a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + = + b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b+ b;
end M;
