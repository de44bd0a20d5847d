// Names: section 5 of the specification. test_scope.c says how to read the cases.

//// 5.3.1 a name is looked up in the class itself before the classes around it
package P
  constant Real k = 1;
  model A constant Real k = 2; parameter Real p = k; end A;
  model B parameter Real p = k; end B;
end P;
model M P.A a; P.B b; end M;
//= a.p 2
//= b.p 1

//// 5.3.1 an inherited element is found before one of an enclosing class
package P
  constant Real k = 1;
  model Base constant Real k = 2; end Base;
  model A extends Base; parameter Real p = k; end A;
end P;
model M P.A a; end M;
//= a.p 2

//// 5.3.1 what is written in a base class does not see the enclosing classes of the derived one
package P constant Real k = 1; model Base parameter Real p = k; end Base; end P;
package Q constant Real k = 2; model A extends P.Base; parameter Real q = k; end A; end Q;
model M Q.A a; end M;
//= a.p 1
//= a.q 2

//// 5.3.1 what is written in a base class does not see elements of the derived one
package P constant Real k = 1; model Base parameter Real p = k; end Base; end P;
model A extends P.Base; constant Real k = 3; end A;
model M A a; end M;
//= a.p 1

//// 5.3.1 iteration variables come first
model M
  constant Integer i = 7;
  parameter Real x[2] = {i for i in 1:2};
  parameter Real s = sum(10 * i for i in 1:3);
  parameter Real y = i;
end M;
//= x[2] 2
//= s 60
//= y 7

//// 5.3.1 an encapsulated class does not see the classes around it
package P
  constant Real k = 1;
  encapsulated model A parameter Real p = k; end A;
end P;
model M P.A a; end M;
//! 'k' is not known

//// 5.3.1 an encapsulated class does not see top-level classes
model T parameter Real p = 1; end T;
package P encapsulated model A T t; end A; end P;
model M P.A a; end M;
//! the class 'T' is not known

//// 5.3.1 an encapsulated class sees what it imports and what the language defines
package C constant Real k = 4; end C;
package P
  encapsulated model A
    import C;
    parameter Real p(stateSelect = StateSelect.default) = abs(-C.k);
  end A;
end P;
model M P.A a; end M;
//= a.p 4

//// 5.3.1 only constants are found in an enclosing class
model M
  parameter Real k = 1;
  model A parameter Real p = k; end A;
  A a;
end M;
//! but it is no constant

//// 5.3.1 but the modification of a short class is written in the class around it
model Y parameter Real p = 0; end Y;
model M
  parameter Real k = 1;
  model A = Y(p = k);
  A a;
end M;
//= a.p 1

//// 5.3.2 the rest of a name is looked up among the elements found so far
package P package Q constant Real k = 5; end Q; end P;
model M parameter Real p = P.Q.k; end M;
//= p 5

//// 5.3.2 the first part of a name decides, also where the rest is not found there
package P constant Real k = 5; end P;
package Q
  package P constant Real other = 1; end P;
  model A parameter Real p = P.k; end A;
end Q;
model M Q.A a; end M;
//! there is no 'k'

//// 5.3.2 inherited elements of a package are found in it
package P constant Real k = 5; end P;
package Q extends P; end Q;
model M parameter Real p = Q.k; end M;
//= p 5

//// 5.3.2 a class is found in a package with the modifications of that package
package P constant Real k = 5; model A parameter Real p = k; end A; end P;
package Q extends P(k = 6); end Q;
package R = P(k = 7);
model M P.A a; Q.A b; R.A c; end M;
//= a.p 5
//= b.p 6
//= c.p 7

//// 5.3.3 a name with a leading dot is looked up at the top
package P constant Real k = 1; end P;
package Q
  package P constant Real k = 2; end P;
  model A parameter Real p = .P.k; parameter Real q = P.k; end A;
end Q;
model M Q.A a; end M;
//= a.p 1
//= a.q 2

//// 5.4 an outer element is the inner one of the nearest object around
model A outer parameter Real T; parameter Real p = T; end A;
model B inner parameter Real T = 2; A a; end B;
model M inner parameter Real T = 1; A a; B b; end M;
//= a.p 1
//= b.a.p 2

//// 5.4 inner elements are found by instances, not by the text
model M
  inner parameter Real T = 1;
  model A parameter Real T = 9; B b; end A;
  model B outer parameter Real T; parameter Real p = T; end B;
  A a;
end M;
//= a.b.p 1

//// 5.4 an outer element must not be modified
model A outer parameter Real T = 3; end A;
model M inner parameter Real T = 1; A a; end M;
//! is modified

//// 5.4 the inner element is a subtype of the outer one
model A outer Integer T; end A;
model M inner Real T = 1; A a; end M;
//! does not fit 'T'

//// 5.4.1 an outer function is the inner one
partial function F input Real u; output Real y; end F;
function G extends F; algorithm y := 2 * u; end G;
model D outer function f = F; Real y = f(3); end D;
model M inner function f = G; D d; end M;
//= d.y 6

//// 5.4.1 an outer class is the inner one, with its modifications
model Y parameter Real p = 1; end Y;
model D outer model X = Y; X x; end D;
model M parameter Real k = 5; inner model X = Y(p = k); D d; end M;
//= d.x.p 5

//// 5.5 an element that is inner and outer reads the outer one and gives the inner one
model A outer parameter Real T; parameter Real p = T; end A;
model B inner outer parameter Real T = T + 10; A a; parameter Real q = T; end B;
model M inner parameter Real T = 1; B b; A a; end M;
//= b.a.p 11
//= b.q 1
//= a.p 1

//// 5.6.1 elements may be used before they are declared
model M
  parameter Real p = q + 1;
  A a(x = n);
  parameter Real q = 2;
  model A parameter Real x; end A;
  parameter Real n = 4;
end M;
//= p 3
//= a.x 4

//// 5.6.1.4 a redeclared class is looked up where the redeclaration stands, its elements where they are written
model M
  model B
    A a;
    replaceable model A = C;
    type E = Boolean;
  end B;
  B b(redeclare model A = D(p = 1));
  partial model C parameter E e = 2.5; end C;
  model D extends C; parameter E p; type E = Integer; end D;
  type E = Real;
end M;
//= b.a.p 1
//= b.a.e 2.5

//// 5.4 nor is an outer element modified from outside
model A outer parameter Real T; end A;
model M inner parameter Real T = 1; A a(T = 2); end M;
//! is modified

//// 5.3.1 a constant of a component in an enclosing class
model A constant Integer n = 2; end A;
model M A a; model B Real x[a.n] = {3, 4}; end B; B b; end M;
//= b.x[2] 4
