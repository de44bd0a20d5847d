// Redeclarations: section 7.3 of the specification.

//// 7.3 a component is redeclared by a modification
model R parameter Real p = 1; end R;
model S extends R; parameter Real q = 2; end S;
model A replaceable R r; end A;
model M A a(redeclare S r(q = 5)); end M;
//= a.r.p 1
//= a.r.q 5

//// 7.3 a class is redeclared by a modification
model R parameter Real p = 1; end R;
model S extends R(p = 3); end S;
model A replaceable model X = R; X x, y; end A;
model M A a(redeclare model X = S); end M;
//= a.x.p 3
//= a.y.p 3

//// 7.3 a redeclared class is looked up where the redeclaration is written
model S parameter Real p = 1; end S;
package P
  model S parameter Real p = 2; end S;
  model A replaceable model X = S; X x; end A;
end P;
model M P.A a(redeclare model X = S); P.A b; end M;
//= a.x.p 1
//= b.x.p 2

//// 7.3 the modifications of a redeclaration are looked up where it is written
model R parameter Real p = 1; end R;
model A parameter Real k = 1; replaceable R r; replaceable model X = R; X x; end A;
model M parameter Real k = 9; A a(redeclare R r(p = k), redeclare model X = R(p = 10 * k)); end M;
//= a.r.p 9
//= a.x.p 90

//// 7.3 a redeclaration as an element does the same as one in a modification
model R parameter Real p = 1; end R;
model S extends R; parameter Real q = 2; end S;
model A parameter Real k = 1; replaceable R r(p = 4); end A;
model B extends A(redeclare S r(q = k)); end B;
model C extends A; redeclare S r(q = k); end C;
model M B b(k = 6); C c(k = 7); end M;
//= b.r.p 4
//= b.r.q 6
//= c.r.p 4
//= c.r.q 7

//// 7.3 a class redeclared as an element holds also for what is inherited
model A replaceable model X parameter Real p = 1; end X; X x; end A;
model M extends A; redeclare model X parameter Real p = 2; end X; X y; end M;
//= x.p 2
//= y.p 2

//// 7.3 there must be something to redeclare
model A parameter Real p = 1; end A;
model M extends A; redeclare parameter Real q = 2; end M;
//! no inherited 'q' to redeclare

//// 7.3 what is redeclared as an element must be inherited
model M replaceable parameter Real q = 1; redeclare parameter Real q = 2; end M;
//! no inherited 'q' to redeclare

//// 7.3 'replaceable' in a modification is a redeclaration
model R parameter Real p = 1; end R;
model S extends R(p = 2); end S;
model A replaceable R r; end A;
model M A a(replaceable S r); end M;
//= a.r.p 2

//// 7.3 prefixes that are not given are kept
model A replaceable parameter Real p = 1; end A;
model M A a(redeclare Real p = 3); parameter Real q = a.p; end M;
//= q 3

//// 7.3 sizes that are not given are kept, and mean what they meant
model A parameter Integer n = 2; replaceable Real x[n] = ones(n); end A;
type T = Real(unit = "m");
model M parameter Integer n = 5; A a(redeclare T x); Real s = sum(a.x); end M;
//= s 2

//// 7.3 a redeclaration stays protected
model A protected replaceable parameter Real p = 1; end A;
model B extends A; redeclare parameter Real p = 2; end B;
model M B b; parameter Real q = b.p; end M;
//! 'p' is protected

//// 7.3 a record with another in its place is passed on
record R parameter Real a = 1; end R;
record S extends R(a = 2); parameter Real b = 3; end S;
model A replaceable parameter R r; parameter Real v = r.a; end A;
model M S s(a = 7); A a(redeclare S r = s); end M;
//= a.v 7
//= a.r.b 3

//// 7.3 a function is redeclared
function F input Real u; output Real y; algorithm y := u; end F;
function G extends F; end G;
function H input Real u; output Real y; algorithm y := 3 * u; end H;
model A replaceable function f = F; Real y = f(2); end A;
model M A a; A b(redeclare function f = H); end M;
//= a.y 2
//= b.y 6

//// 7.3 a function with arguments that the redeclaration gives
function F input Real u; output Real y; algorithm y := u; end F;
function H input Real u; input Real k = 1; output Real y; algorithm y := k * u; end H;
model A replaceable function f = F; Real y = f(2); end A;
model M parameter Real n = 5; A a(redeclare function f = H(k = n)); end M;
//= a.y 10

//// 7.3 a package is redeclared, with all that is in it
package P constant Real k = 1; replaceable function f input Real u; output Real y; algorithm y := u; end f; end P;
package Q extends P(k = 4); redeclare function f input Real u; output Real y; algorithm y := u + 1; end f; end Q;
model A replaceable package Medium = P; parameter Real p = Medium.k; Real y = Medium.f(1); end A;
model B package Medium = Q; A a(redeclare package Medium = Medium); end B;
model M B b; A a; end M;
//= b.a.p 4
//= b.a.y 2
//= a.p 1

//// 7.3 a package is passed down through components
package P constant Integer n = 1; end P;
package Q = P(n = 3);
model A replaceable package Medium = P; Real x[Medium.n] = ones(Medium.n); Real s = sum(x); end A;
model B replaceable package Medium = P; A a(redeclare package Medium = Medium); end B;
model C replaceable package Medium = P; B b(redeclare package Medium = Medium); end C;
model M C c(redeclare package Medium = Q); end M;
//= c.b.a.s 3

//// 7.3.1 'class extends' replaces a class by one that extends it
model A replaceable model X parameter Real p = 1; end X; X x; end A;
model M extends A; redeclare model extends X parameter Real q = 2 * p; end X; end M;
//= x.p 1
//= x.q 2

//// 7.3.1 'class extends' with modifications
model A replaceable model X parameter Real p = 1; end X; X x; end A;
model M extends A; redeclare model extends X(p = 5) parameter Real q = 2 * p; end X; end M;
//= x.q 10

//// 7.3.1 'class extends' sees the constants of its own package
package P
  constant Integer n = 1;
  replaceable partial model Base Real x[n]; end Base;
end P;
package Q
  extends P(n = 2);
  redeclare model extends Base equation x = {3, 4}; end Base;
end Q;
model M Q.Base b; end M;
//= b.x[2] 4

//// 7.3.1 'class extends' of 'class extends'
model A replaceable model X parameter Real p = 1; end X; X x; end A;
model B extends A; redeclare replaceable model extends X parameter Real q = p + 1; end X; end B;
model M extends B; redeclare model extends X parameter Real r = q + 1; end X; end M;
//= x.p 1
//= x.q 2
//= x.r 3

//// 7.3.1 there must be a class to extend
model A parameter Real p = 1; end A;
model M extends A; redeclare model extends X parameter Real q = 2; end X; end M;
//! no inherited 'X' to redeclare

//// 7.3.2 modifications of the original declaration are kept
model A parameter Real x; end A;
model B parameter Real x = 3.14, y; end B;
model C replaceable A a(x = 1); end C;
model M extends C(redeclare B a(y = 2)); end M;
//= a.x 1
//= a.y 2

//// 7.3.2 those of the constraint hold for the declaration and for what replaces it
model O parameter Real n = 0; end O;
model S extends O(n = 1); end S;
model T extends O(n = 2); end T;
model A replaceable S source constrainedby O(n = 5); end A;
model M A a; A b(redeclare T source); end M;
//= a.source.n 5
//= b.source.n 5

//// 7.3.2 modifications of the declaration override those of its constraint
model O parameter Real n = 0; end O;
model A replaceable O o(n = 7) constrainedby O(n = 5); end A;
model M A a; A b(redeclare O o); A c(redeclare O o(n = 8)); end M;
//= a.o.n 7
//= b.o.n 5
//= c.o.n 8

//// 7.3.2 those of a class are kept, those of a redeclaration between are not
model R parameter Real r = 1, t = 1; end R;
model A replaceable model X = R(r = 100); X x; end A;
model B extends A(redeclare replaceable model X = R(t = 300)); end B;
model C extends B(redeclare replaceable model X = R); end C;
model M B b; C c; end M;
//= b.x.r 100
//= b.x.t 300
//= c.x.r 100
//= c.x.t 1

//// 7.3.2 the same for redeclarations as elements
model A replaceable parameter Real r(min = 0, max = 20) = 2; parameter Real k = 5; end A;
model B extends A; redeclare replaceable parameter Real r = 3; end B;
model C extends B; redeclare replaceable parameter Real r; end C;
model M A a; B b; C c; end M;
//= a.r 2
//= b.r 3
//= c.r 2

//// 7.3.2 a modification of a replaceable element holds also for what replaces it
model R parameter Real p = 1; end R;
model S extends R; parameter Real q = 2; end S;
model A replaceable R r; end A;
model B extends A(r(p = 6)); end B;
model M B b(redeclare S r); end M;
//= b.r.p 6
//= b.r.q 2

//// 7.3.2 a modification from outside of the constraint is looked up where the constraint is written
model R parameter Real p = 1; end R;
model A parameter Real k = 4; replaceable R r constrainedby R(p = k); end A;
model M parameter Real k = 8; A a(redeclare R r); end M;
//= a.r.p 4

//// 7.3.2 what replaces an element must have what the constraint has
model R parameter Real p = 1; end R;
model S parameter Real q = 1; end S;
model A replaceable R r; end A;
model M A a(redeclare S r); end M;
//! cannot be redeclared as 'S'

//// 7.3.2 the constraint may ask for less than the declaration has
model O parameter Real p = 1; end O;
model R extends O; parameter Real q = 2; end R;
model S extends O; parameter Real s = 3; end S;
model A replaceable R r constrainedby O; end A;
model M A a(redeclare S r); end M;
//= a.r.s 3

//// 7.3.2 a redeclaration can demand more
model O parameter Real p = 1; end O;
model R extends O; parameter Real q = 2; end R;
model A replaceable O r; end A;
model B extends A(redeclare replaceable R r constrainedby R); end B;
model M B b(redeclare O r); end M;
//! cannot be redeclared

//// 7.3.3 only what is replaceable gets another type
model R parameter Real p = 1; end R;
model S extends R(p = 2); end S;
model A R r; end A;
model M A a(redeclare S r); end M;
//! is not replaceable

//// 7.3.3 a redeclaration without 'replaceable' is the last
model R parameter Real p = 1; end R;
model S extends R(p = 2); end S;
model T extends R(p = 3); end T;
model A replaceable R r; end A;
model B extends A(redeclare S r); end B;
model M B b(redeclare T r); end M;
//! is not replaceable any more

//// 7.3.3 but the same type may be declared again
model R parameter Real p = 1; end R;
model S extends R(p = 2); end S;
model A replaceable R r; end A;
model B extends A(redeclare S r); end B;
model M B b(redeclare S r(p = 5)); end M;
//= b.r.p 5

//// 7.3.3 also with other sizes
model A Real x[:] = {1, 2}; end A;
model M A a(redeclare Real x[3] = {4, 5, 6}); Real s = sum(a.x); end M;
//= s 15

//// 7.3.3 a final element is not redeclared
model R parameter Real p = 1; end R;
model A final replaceable R r; end A;
model M A a(redeclare R r); end M;
//! final

//// 7.3.3 a final redeclaration is not redeclared
model R parameter Real p = 1; end R;
model S extends R(p = 2); end S;
model A replaceable model X = R; X x; end A;
model B A a(redeclare final model X = S); end B;
model M B b(a(redeclare model X = R)); end M;
//! final

//// 7.3.3 a constant is not redeclared
model A replaceable constant Real c = 1; end A;
model M A a(redeclare constant Real c = 2); end M;
//! constant

//// 7.3.3 a component is not redeclared as a class
model R parameter Real p = 1; end R;
model A replaceable R r; end A;
model M A a(redeclare model r = R); end M;
//! another kind of element

//// 7.3.3 a public element is not redeclared as protected
model A replaceable parameter Real p = 1; end A;
model M extends A; protected redeclare parameter Real p = 2; end M;
//! cannot be redeclared as protected

//// 7.3.3 another name of the same class is the same type
package P constant Real k = 1; end P;
package Q = P;
model A replaceable package X = P; parameter Real p = X.k; end A;
model B extends A(redeclare package X = P); end B;
model M B b(redeclare package X = Q); end M;
//= b.p 1

//// 7.3.2 the constraint of a redeclaration is a subtype of that of the original
model O parameter Real p = 1; end O;
model R extends O; parameter Real q = 2; end R;
model A replaceable R r constrainedby R; end A;
model M A a(redeclare replaceable R r constrainedby O); end M;
//! cannot be redeclared as 'O'

//// 7.3.3 a class that is not replaceable is not redeclared
model A model B parameter Real y = 1; end B; B b; end A;
model C parameter Real y = 2, z = 3; end C;
model M A a(redeclare model B = C); end M;
//! is not replaceable
