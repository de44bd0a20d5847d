// Modifications: section 7.2 of the specification.

//// 7.2 the value of a modification is looked up where it is written
model B parameter Real x = 1; end B;
model C parameter Real x = 2; B b(x = x); end C;
model M parameter Real x = 3; C c(b(x = x)); C d; end M;
//= c.b.x 3
//= d.b.x 2

//// 7.2 also where the class of the component redeclares the element
model Base parameter Real k = 1; replaceable parameter Real p = k; end Base;
model Cell extends Base(redeclare parameter Real p = 7, k = 2); end Cell;
model M parameter Real k = 5; Cell c(p = k); end M;
//= c.p 5

//// 7.2 also where the class of the component redeclares it as an element
model Base replaceable parameter Real p = 1; end Base;
model Cell extends Base; redeclare parameter Real p = 7; parameter Real k = 2; end Cell;
model M parameter Real k = 5; Cell c(p = k); end M;
//= c.p 5

//// 7.2 also through several classes that redeclare it
model A replaceable parameter Real p = 1; parameter Real k = 10; end A;
model B extends A(redeclare replaceable parameter Real p = 2 * k, k = 20); end B;
model C extends B(redeclare replaceable parameter Real p = 3 * k, k = 30); end C;
model D C c(p = k); parameter Real k = 40; end D;
model M parameter Real k = 50; D d; C e(p = k); C f; end M;
//= d.c.p 40
//= e.p 50
//= f.p 90

//// 7.2 also for modifications inside of the redeclared element
record Data parameter Real a = 1, b = 1; end Data;
record More extends Data; parameter Real c = 1; end More;
model Base replaceable parameter Data d; parameter Real n = 2; end Base;
model Cell extends Base(redeclare More d(c = n)); end Cell;
model M parameter Real n = 7; Cell c(d(a = n)); end M;
//= c.d.a 7
//= c.d.b 1
//= c.d.c 2

//// 7.2 also for a whole record
record Data parameter Real a = 1; end Data;
model Base replaceable parameter Data d; parameter Real q = d.a; end Base;
model Cell extends Base(redeclare Data d); end Cell;
model M parameter Data d(a = 8); Cell c(d = d); end M;
//= c.d.a 8
//= c.q 8

//// 7.2 also for sizes that follow from the value
record Data parameter Real t[:] = {1}; final parameter Integer n = size(t, 1); end Data;
model Base replaceable parameter Data d; parameter Real s = sum(d.t); end Base;
model Cell extends Base(redeclare Data d); end Cell;
model M parameter Data d(t = {1, 2, 3}); Cell c(d = d); end M;
//= c.s 6
//= c.d.n 3

//// 7.2 also for attributes
model Base replaceable Real x; parameter Real k = 1; equation der(x) = 0; end Base;
model Cell extends Base(redeclare Real x(start = k, fixed = true)); end Cell;
model M parameter Real k = 4; Cell c(x(start = k)); Cell d; end M;
//= c.x 4
//= d.x 1

//// 7.2 a modification of a class in a component is looked up where it is written
model Y parameter Real p = 0; end Y;
model C replaceable model X = Y; X x; parameter Real k = 1; end C;
model M parameter Real k = 2; C c(X(p = k)); end M;
//= c.x.p 2

//// 7.2 a modification of a short class is looked up around it
model Y parameter Real p = 0; end Y;
model M
  parameter Real k = 3;
  model X = Y(p = k);
  X x;
  model N parameter Real k = 4; X y; end N;
  N n;
end M;
//= x.p 3
//= n.y.p 3

//// 7.2 only elements that are there can be modified
model A parameter Real p = 1; end A;
model M A a(q = 2); end M;
//! there is no 'q'

//// 7.2 protected elements are not modified from outside
model A protected parameter Real p = 1; end A;
model M A a(p = 2); end M;
//! 'p' is protected

//// 7.2 protected elements are modified by 'extends'
model A parameter Real q = p; protected parameter Real p = 1; end A;
model M extends A(p = 2); end M;
//= q 2

//// 7.2.3 outer modifications override inner ones
model A parameter Real p = 1, q = 1, r = 1; end A;
model B A a(p = 2, q = 2); end B;
model C extends B(a(q = 3)); end C;
model M C c(a(r = 4)); end M;
//= c.a.p 2
//= c.a.q 3
//= c.a.r 4

//// 7.2.3 the table of the specification
model C1 parameter Real a; end C1;
model C2 parameter Real b, c; end C2;
record R1 parameter Real a; end R1;
model C3
  parameter Real x2 = 2;
  parameter R1 x3;
  C2 x4(b = 4);
  parameter R1 x5(a = 5);
  extends C1;
  extends C2(b = 6, c = 77);
end C3;
model M extends C3(x2 = 22, x3(a = 33), x4(c = 44), x5 = x3, a = 55, b = 66); end M;
//= x2 22
//= x3.a 33
//= x4.b 4
//= x4.c 44
//= x5.a 33
//= a 55
//= b 66
//= c 77

//// 7.2.3 a value for a whole record overrides values for its parts
record R parameter Real a = 1, b = 2; end R;
model A parameter R r(a = 3); end A;
model M parameter R s(a = 10, b = 20); A x(r = s); end M;
//= x.r.a 10
//= x.r.b 20

//// 7.2.3 also those for parts of its parts
record F parameter Real v[:], e = 1; end F;
record G parameter F p(v = {0, 0}, e = 4); end G;
model P parameter G g; end P;
model M parameter G g(p = F(v = {1, 2, 3}, e = 9)); P q(g = g); P r; end M;
//= q.g.p.v[3] 3
//= q.g.p.e 9
//= r.g.p.e 4

//// 7.2.3 also across 'extends'
record R parameter Real a = 1, b = 2; end R;
model A parameter R r(a = 3); end A;
model B extends A(r = R(5, 6)); end B;
model M B b; end M;
//= b.r.a 5
//= b.r.b 6

//// 7.2.3 attributes stay when a value overrides a value
model A parameter Real p(min = 2) = 3; end A;
model M A a(p = 4); A b(p(min = 1)); Real x(start = a.p, fixed = true); equation der(x) = 0; end M;
//= a.p 4
//= b.p 3

//// 7.2.3 every modification keeps its own 'each'
model A parameter Real p = 0, q = 0; end A;
model B A a[2](each p = 1, q = {2, 3}); end B;
model M B b(a(p = {4, 5})); end M;
//= b.a[1].p 4
//= b.a[2].p 5
//= b.a[2].q 3

//// 7.2.4 the same element is not modified twice
model A parameter Real x = 0; end A;
model M A a(x = 1, x = 1); end M;
//! modified twice

//// 7.2.4 nor an attribute of it
model A Real x = 0; end A;
model M A a(x.start = 2, x(start = 3)); end M;
//! modified twice

//// 7.2.4 a value and attributes by qualified names are merged
model A parameter Real x = 0; end A;
model M A a(x.min = -1, x = 5, x.max = 9); end M;
//= a.x 5

//// 7.2.4 'final' before a qualified name is for its last part
model A parameter Real x = 0, y = 0; end A;
model B A a(x = 1, y = 1); end B;
model C B b(final a.x = 2); end C;
model M C c(b(a(y = 3))); end M;
//= c.b.a.x 2
//= c.b.a.y 3

//// 7.2.5 'each' and vectors
model C parameter Real a[3]; parameter Real d; end C;
model M C c[2](each a = {1, 2, 3}, d = {4, 5}); end M;
//= c[2].a[3] 3
//= c[1].d 4
//= c[2].d 5

//// 7.2.5 'each' before a qualified name is for its last part
model C parameter Real a[3]; parameter Real d; end C;
model B C c[2](each a = {1, 2, 3}, d = {4, 5}); end B;
model M B b(each c.a = {3, 4, 5}, c.d = {2, 3}); end M;
//= b.c[1].a[1] 3
//= b.c[2].a[3] 5
//= b.c[2].d 3

//// 7.2.5 'each' of a nested modification is for each element of each element
model C parameter Real a[3]; parameter Real d; end C;
model B C c[2](each a = {0, 0, 0}, d = {0, 0}); parameter Real p = 0; end B;
model M B b[2](c(each a = {1, 2, 3}, d = {{5, 6}, {7, 8}}), p = {1, 2}); end M;
//= b[1].c[2].a[2] 2
//= b[2].c[2].a[3] 3
//= b[2].c[1].d 7
//= b[2].p 2

//// 7.2.5 an outer 'each' is for all that is inside
model C parameter Real a[3]; parameter Real d; end C;
model B C c[2](each a = {0, 0, 0}, d = {0, 0}); parameter Real p = 0; end B;
model M B b[2](each c(each a = {1, 2, 3}, d = {5, 6}), p = {1, 2}); end M;
//= b[1].c[2].a[2] 2
//= b[2].c[2].d 6
//= b[2].c[1].d 5

//// 7.2.5 without 'each' the sizes must match: too few
model A parameter Real p = 0; end A;
model M A a[3](p = {1, 2}); end M;
//! 2 elements for an array of 3

//// 7.2.5 without 'each' the sizes must match: too many
model A parameter Real p = 0; end A;
model M A a[2](p = {1, 2, 3}); end M;
//! 3 elements for an array of 2

//// 7.2.5 matrices of components are vectors of vectors
model A parameter Real p = 0; end A;
model M A a[2, 2](p = {{1, 2}, {3, 4}}); end M;
//= a[1,2].p 2
//= a[2,1].p 3

//// 7.2.5 attributes of arrays
model M Real x[2](start = {3, 4}, each fixed = true); equation der(x) = {0, 0}; end M;
//= x[1] 3
//= x[2] 4

//// 7.2.5 modifications through a record array
record R parameter Real a = 0; parameter Real b = 0; end R;
model M parameter R r[2](a = {1, 2}, each b = 7); end M;
//= r[2].a 2
//= r[2].b 7

//// 7.2.6 a final element is not modified
model A final parameter Real p = 1; end A;
model M A a(p = 2); end M;
//! is final

//// 7.2.6 a final modification is not overridden
model A parameter Real p = 1; end A;
model B A a(final p = 2); end B;
model M B b(a(p = 3)); end M;
//! is final

//// 7.2.6 but what it uses can be modified
model A parameter Real p = 1; end A;
model B parameter Real k = 2; A a(final p = 10 * k); end B;
model M B b(k = 3); end M;
//= b.a.p 30

//// 7.2.6 all elements of a final component are final
model A parameter Real p = 1; end A;
model B final A a; end B;
model M B b(a(p = 3)); end M;
//! is final

//// 7.2.6 a final attribute is not overridden
type T = Real(final unit = "m");
model M T x(unit = "s") = 1; end M;
//! is final

//// 7.2.7 'break' removes a value
model A parameter Real d(start = 4) = 1; parameter Real r = d / 2; end A;
model B extends A(d(fixed = false) = break); initial equation 10 = d; end B;
model M B b; end M;
//= b.d 10
//= b.r 5

//// 7.2.7 'break' is overridden from outside
model A parameter Real d = 1; end A;
model B extends A(d = break); end B;
model M B b(d = 6); end M;
//= b.d 6

//// 7.2.7 'break' does not override 'final'
model A parameter Real d = 1; end A;
model B extends A(final d = 2); end B;
model M extends B(d = break); end M;
//! is final

//// 12.6 the defaults of a record's fields use the fields that are given, also later ones
record R parameter Integer n = size(v, 1); parameter Real v[:]; parameter Real s = t + n; parameter Real t = 2 * n; end R;
model M parameter R r = R(v = {1, 2, 3}); end M;
//= r.n 3
//= r.s 9

//// 12.6 a default that is modified from outside of the record is not looked up in it
record R Real a = 1; Real b = 2; end R;
package P constant Real a = 10; record S = R(b = a); end P;
model M P.S s = P.S(a = 5); end M;
//= s.a 5
//= s.b 10

//// 12.2 the fields of a function's record are given before their defaults
record R Real x; Real y = 10 * x; end R;
function f input Real u; output R r(x = b); protected Real b = 2 * u; algorithm end f;
function g input Real u; output Real y; protected R r(x = u); algorithm y := r.y; end g;
model M R r = f(3); Real z = g(4); end M;
//= r.x 6
//= r.y 60
//= z 40

//// 6.4 enumerations with the same literals in the same order are one type
type A = enumeration(p, q);
type B = enumeration(p, q);
model C parameter A x = A.p; parameter Integer n = Integer(x); end C;
model M parameter B y = B.q; C c(x = y); parameter Real r = if y == c.x then 1 else 0; end M;
//= c.n 2
//= r 1

//// 12.2 sizes of a function's inputs use any other input
function f input Real x[n]; input Integer n; input Real y[n] = 2 * x; output Real s; algorithm s := sum(x) + sum(y) + n; end f;
model M parameter Real p = f({1, 2}, 2); end M;
//= p 11
