type E = enumeration a, b;
