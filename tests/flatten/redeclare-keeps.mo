// A redeclaration keeps sizes and condition: they mean what they meant where they are written.
// Sizes that it gives itself are looked up where it is written.
package P
  model R1
    Real y = 2;
  end R1;
  model R2
    extends R1;
    Real z = 3;
  end R2;
  model S
    parameter Integer n = 3;
    parameter Boolean on = true;
    replaceable R1 r[n];
    replaceable R1 c if on;
    replaceable R1 d[:];
  end S;
  model T
    extends S(n = 2);
    redeclare R2 r;
    redeclare R2 c;
  end T;
  model M
    parameter Integer n = 1;
    parameter Boolean on = false;
    S given(redeclare R2 r, redeclare R2 c, redeclare R1 d[n]);
    T inherited(redeclare R1 d[0], on = false);
  end M;
end P;
