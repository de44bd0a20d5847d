function g = der(f);
