package P
  package Q
    constant Real a = 1;
    constant Real b = 2;
    constant Real c = 3;
    constant Real d = 4;
  end Q;
end P;
model Imports
  import P.Q.a;
  import R = P.Q;
  import P.Q.{b, c};
  import P.Q.*;
  Real x = a + R.b*b + c*d*time;
end Imports;
