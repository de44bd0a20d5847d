type E = enumeration(if, b);
