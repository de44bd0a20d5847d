// Inheritance: section 7.1 of the specification.

//// 7.1 modifications of a chain of bases are merged
model A parameter Real a, b; end A;
model B extends A(b = 2); end B;
model C extends B(a = 1); end C;
model M C c; B d(b = 3, a = 4); end M;
//= c.a 1
//= c.b 2
//= d.b 3

//// 7.1 modifications of 'extends' are looked up in the derived class
model A parameter Real p; parameter Real k = 1; end A;
model B extends A(p = k + n); parameter Real n = 10; end B;
model M B b(k = 2); end M;
//= b.p 12

//// 7.1 a name in a modification of 'extends' that only the base has is the inherited one
model A parameter Real p; parameter Real k = 1; end A;
model B extends A(p = k); end B;
model M parameter Real k = 5; B b; end M;
//= b.p 1

//// 7.1 inherited elements stand at the place of 'extends': positional arguments
function F input Real b; end F;
function G input Real a; extends F; input Real c; output Real y; algorithm y := 100 * a + 10 * b + c; end G;
model M Real y = G(1, 2, 3); end M;
//= y 123

//// 7.1 of identical elements the first is kept: positional arguments
function A input Real a; input Real b; end A;
function B extends A; input Real a; output Real y; algorithm y := 10 * a + b; end B;
model M Real y = B(1, 2); end M;
//= y 12

//// 7.1 identical elements may be inherited by two ways
model A parameter Real p = 3; end A;
model B extends A; end B;
model C extends A; end C;
model M extends B; extends C; end M;
//= p 3

//// 7.1 identical elements may have final modifiers
model A parameter Integer m(final min = 3) = 3; final parameter Real d(final unit = "m") = 2 * m; end A;
model B parameter Integer m(final min = 3) = 3; end B;
model M extends A; extends B; parameter Integer m(final min = 3) = 3; end M;
//= m 3
//= d 6

//// 7.1 a modification from outside reaches an element that is declared twice
model A parameter Real m(final min = 0) = 3; end A;
model B extends A; parameter Real m(final min = 0) = 3; parameter Real q = m; end B;
model M B b(m = 7); end M;
//= b.m 7
//= b.q 7

//// 7.1 different values make elements different
model A parameter Real p = 1; end A;
model B parameter Real p = 2; end B;
model M extends A; extends B; end M;
//! 'p' is declared differently

//// 7.1 different modifications of the same base make elements different
model A parameter Real p; end A;
model B extends A(p = 1); end B;
model C extends A(p = 2); end C;
model M extends B; extends C; end M;
//! 'p' is declared differently

//// 7.1 a value in one of them only makes elements different
model A parameter Real p; end A;
model M extends A; parameter Real p = 2; end M;
//! 'p' is declared differently

//// 7.1 different types make elements different
model A Real x = 1; end A;
model B Integer x = 1; end B;
model M extends A; extends B; end M;
//! 'x' is declared differently

//// 7.1 the same name twice in one class is refused
model M parameter Real p = 1; parameter Real p = 1; end M;
//! 'p' is declared twice

//// 7.1 equations that are written the same twice count once
model A Real x; equation x = 2; end A;
model B Real x; equation x = 2; end B;
model M extends A; extends B; end M;
//= x 2

//// 7.1 import clauses are not inherited
package P constant Real k = 3; end P;
model A import P.k; parameter Real p = k; end A;
model M extends A; parameter Real q = k; end M;
//! 'k' is not known

//// 7.1.1 'extends' of a class that another base brings is not found
package P model B parameter Real p = 1; end B; end P;
model A model B parameter Real q = 2; end B; end A;
model M extends A; extends B; end M;
//! which is inherited itself

//// 7.1.2 what is inherited under 'protected' is protected
model A parameter Real p = 1; end A;
model B protected extends A; end B;
model M B b; parameter Real q = b.p; end M;
//! 'p' is protected

//// 7.1.2 the heading 'protected' of a base is not inherited
model A parameter Real p = 1; protected parameter Real r = 2; end A;
model B extends A; parameter Real s = r; end B;
model M B b; parameter Real q = b.p + b.s; end M;
//= q 3

//// 7.1.3 a model can extend a record
record R parameter Real a = 4; end R;
model A extends R(a = 5); parameter Real b = a; end A;
model M A a; end M;
//= a.b 5

//// 7.1.3 a model cannot extend a package
package P constant Real k = 1; end P;
model M extends P; end M;
//! extends the package

//// 7.1 'extends' of a short class: its modifications are those of the scope around it
model A parameter Real p = 1; end A;
package P constant Real k = 6; model S = A(p = k); end P;
model B constant Real k = 7; extends P.S; end B;
model M B b; end M;
//= b.p 6

//// 7.1 'extends' of a short class of a short class
model A parameter Real p = 1, q = 1, r = 1; end A;
model S = A(p = 2, q = 2, r = 2);
model T = S(q = 3, r = 3);
model B extends T(r = 4); end B;
model M B b; end M;
//= b.p 2
//= b.q 3
//= b.r 4

//// 7.1 a class that is used before its 'extends' is inherited
model C1 model X parameter Real x = 0; end X; end C1;
model C2 model Y parameter Real y = 8; end Y; end C2;
model M extends C1; X t(x = 3); Y u; extends C2; end M;
//= t.x 3
//= u.y 8

//// 7.1 classes that are inherited by two objects are looked up in their own object
model Y parameter Real p = 0; end Y;
model B parameter Real k = 1; model X = Y(p = k); end B;
model C extends B(k = 2); replaceable model Z = Y; Z z; X own; end C;
model M extends B; C c(redeclare model Z = X); end M;
//= c.z.p 1
//= c.own.p 2

//// 7.4 a component that is left out, and its connections
connector P Real v; flow Real i; end P;
model R P p; equation p.v = 2 * p.i; end R;
model V P p; equation p.v = 6; end V;
model A R r1, r2; V v; equation connect(v.p, r1.p); connect(v.p, r2.p); end A;
model M extends A(break r2); end M;
//= r1.p.i 3
//= v.p.i -3

//// 7.4 another component in the place of one that is left out
model A parameter Real k = 1; end A;
model S A a(k = 2); parameter Real n = 5; end S;
model B parameter Real other = 3; end B;
model M extends S(break a); B a(other = n); end M;
//= a.other 5

//// 7.4 a connection that is left out, its ends either way round
connector In = input Real;
connector Out = output Real;
model G Out y = 4; end G;
model H In u; Out y = 10 * u; end H;
model A G g; H h; equation connect(g.y, h.u); end A;
model M extends A(break connect(h.u, g.y)); H f; equation connect(g.y, f.u); connect(f.y, h.u); end M;
//= h.y 400

//// 7.4 what is left out must be there
model A parameter Real k = 1; end A;
model M extends A(break b); end M;
//! there is no component 'b'

//// 7.4 a connection that is left out must be there
connector P Real v; flow Real i; end P;
model A P a, b; equation connect(a, b); a.v = 1; end A;
model M extends A(break connect(a, a)); end M;
//! there is no such connection
