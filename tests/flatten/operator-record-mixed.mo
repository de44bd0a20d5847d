// Numbers beside records are converted by the constructor; arrays of records go element by element.
operator record C
  Real re;
  Real im;
  encapsulated operator 'constructor'
    import C;
    function fromReal
      input Real re;
      input Real im = 0;
      output C r(re = re, im = im);
    algorithm
    end fromReal;
  end 'constructor';
  encapsulated operator function '+'
    import C;
    input C a; input C b; output C r;
  algorithm
    r := C(a.re + b.re, a.im + b.im);
  end '+';
  encapsulated operator '-'
    import C;
    function negate
      input C a; output C r;
    algorithm r := C(-a.re, -a.im);
    end negate;
    function subtract
      input C a; input C b; output C r;
    algorithm r := C(a.re - b.re, a.im - b.im);
    end subtract;
  end '-';
  encapsulated operator '*'
    import C;
    function multiply
      input C c1; input C c2; output C c3;
    algorithm c3 := C(c1.re*c2.re - c1.im*c2.im, c1.re*c2.im + c1.im*c2.re);
    end multiply;
    function scalarProduct
      input C c1[:]; input C c2[size(c1,1)]; output C c3 = C(0);
    algorithm
      for i in 1:size(c1,1) loop c3 := c3 + c1[i]*c2[i]; end for;
    end scalarProduct;
  end '*';
  encapsulated operator function '=='
    import C;
    input C a; input C b; output Boolean r;
  algorithm r := a.re == b.re and a.im == b.im;
  end '==';
  encapsulated operator function '0'
    import C;
    output C r;
  algorithm r := C(0);
  end '0';
  encapsulated operator function 'String'
    import C;
    input C c; output String s;
  algorithm s := String(c.re) + " + " + String(c.im) + "j";
  end 'String';
end C;
record Point
  Real x;
  Real y = 0;
end Point;
function point
  input Real x;
  output Point p(x = x, y = x/2);
algorithm
end point;
model OperatorRecordMixed
  Real half = (point(time)).y;
  Real none = (Point(time)).y;
  C a = C(1, 2), b, c, d, e, f;
  C v[2] = {a, 2*a}, w[2], u[2];
  C m[2,2] = {{a, a},{a, C(1)}};
  C mv[2];
  C z[2];
  C n;
  C s;
  C k[2];
  C prod3;
equation
  b = 2*a;
  c = a*2.5 + 1;
  d = 1 - a;
  e = time*a;
  f = -a;
  w = 2*v;
  u = v + w;
  mv = m*v;
  n = v*w;
  z = -v;
  s = C(time);
  k = {1, 2}*a;
  prod3 = a*b*c;
  assert(a == a, "x");
end OperatorRecordMixed;
