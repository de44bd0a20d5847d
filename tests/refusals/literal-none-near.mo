model M
  type Mode = enumeration(off, heating);
  parameter Mode mode = Mode.cooling;
end M;
