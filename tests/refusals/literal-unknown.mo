type Colour = enumeration(red, green, blue);
model M
  parameter Colour c = Colour.gren;
end M;
