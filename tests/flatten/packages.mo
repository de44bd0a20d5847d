package P
  constant Real g = 9.81;
  package Q
    constant Real half = g/2;
    model Fall
      Real h(start = 10), v;
    equation
      der(h) = v;
      der(v) = -2*half;
    end Fall;
  end Q;
end P;
model Packages
  P.Q.Fall fall;
end Packages;
