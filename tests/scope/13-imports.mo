// Imports: section 13.2 of the specification.

//// 13.2 a package by its last name
package A package B constant Real k = 3; end B; end A;
model M import A.B; parameter Real p = B.k; end M;
//= p 3

//// 13.2 a definition by its name
package A package B constant Real k = 3; model C parameter Real q = 4; end C; end B; end A;
model M import A.B.k; import A.B.C; parameter Real p = k; C c; end M;
//= p 3
//= c.q 4

//// 13.2 under another name: a package, a class and a constant
package A package B constant Real k = 3; model C parameter Real q = 4; end C; end B; end A;
model M import P = A.B; import D = A.B.C; import n = A.B.k; parameter Real p = 10 * n + P.k; D d; end M;
//= p 33
//= d.q 4

//// 13.2 a constant under another name is no other constant of that name
package A constant Real c = 3, C = 8; constant Integer n = 2; end A;
model M
  import C = A.c;
  import c = A.C;
  import size_of_x = A.n;
  parameter Real p = C, q = c;
  Real x[size_of_x] = fill(C, size_of_x);
end M;
//= p 3
//= q 8
//= x[2] 3

//// 13.2 a constant under another name in a modification, a size and a function
package A constant Real c = 3; constant Integer n = 2; end A;
function f import k = A.c; input Real u; output Real y; algorithm y := k * u; end f;
model B parameter Real p = 1; Real x[:] = {1}; end B;
model M import C = A.c; import N = A.n; B b(p = C, x = ones(N)); Real y = f(2); Real s = sum(b.x); end M;
//= b.p 3
//= y 6
//= s 2

//// 13.2 a constant under another name in an enclosing package
package A constant Real c = 3; end A;
package P import C = A.c; model X parameter Real p = C; end X; end P;
model M P.X x; end M;
//= x.p 3

//// 13.2 an element of a record constant
package A record R Real a; end R; constant R r = R(6); end A;
model M import S = A.r; parameter Real p = S.a; end M;
//= p 6

//// 13.2 an array constant
package A constant Real v[3] = {4, 5, 6}; end A;
model M import w = A.v; parameter Real p = w[2]; parameter Real q = sum(w); end M;
//= p 5
//= q 15

//// 13.2 several definitions
package A constant Real a = 1, b = 2, c = 3; end A;
model M import A.{a, c}; parameter Real p = a + c; end M;
//= p 4

//// 13.2 several definitions are only those
package A constant Real a = 1, b = 2, c = 3; end A;
model M import A.{a, c}; parameter Real p = b; end M;
//! 'b' is not known

//// 13.2 everything of a package
package A constant Real a = 1, b = 2; end A;
model M import A.*; parameter Real p = a + b; end M;
//= p 3

//// 13.2 what a package inherits can be imported
package A constant Real a = 1; end A;
package B extends A(a = 5); constant Real b = 2; end B;
model M import B.*; import x = B.a; parameter Real p = a + b + x; end M;
//= p 12

//// 13.2 a literal of an enumeration's type
package A type E = enumeration(one, two); end A;
model M import A.E; parameter E e = E.two; parameter Integer p = Integer(e); end M;
//= p 2

//// 13.2 a top-level class under another name
package A constant Real k = 2; end A;
package P package A constant Real k = 1; end A; model X import B = A; parameter Real p = B.k; end X; end P;
model M P.X x; end M;
//= x.p 2

//// 13.2.1 names of imports are looked up from the top
package A constant Real k = 1; end A;
package P
  package A constant Real k = 2; end A;
  model X import A.k; parameter Real p = k; end X;
end P;
model M P.X x; end M;
//= x.p 1

//// 5.3.1 elements come before imports
package A constant Real k = 1; end A;
model M import A.*; constant Real k = 2; parameter Real p = k; end M;
//= p 2

//// 5.3.1 inherited elements come before imports
package A constant Real k = 1; end A;
model B constant Real k = 2; end B;
model M import A.k; extends B; parameter Real p = k; end M;
//= p 2

//// 5.3.1 qualified imports come before the others
package A constant Real k = 1; end A;
package B constant Real k = 2; end B;
model M import A.*; import B.k; parameter Real p = k; end M;
//= p 2

//// 5.3.1 imports come before the classes around
package A constant Real k = 1; end A;
package P constant Real k = 2; model X import A.*; parameter Real p = k; end X; end P;
model M P.X x; end M;
//= x.p 1

//// 5.3.1 a name from two packages is refused where it is used
package A constant Real k = 1, a = 3; end A;
package B constant Real k = 2; end B;
model M import A.*; import B.*; parameter Real p = k; end M;
//! imported from two packages

//// 5.3.1 and not where it is not used
package A constant Real k = 1, a = 3; end A;
package B constant Real k = 2; end B;
model M import A.*; import B.*; parameter Real p = a; end M;
//= p 3

//// 5.3.1 only public elements are imported with the others
package A constant Real a = 1; protected constant Real k = 1; end A;
package B constant Real k = 2; end B;
model M import A.*; import B.*; parameter Real p = k; end M;
//= p 2

//// 13.2.2 imports are not inherited
package A constant Real k = 1; end A;
model B import A.k; parameter Real q = k; end B;
model M extends B; parameter Real p = k; end M;
//! 'k' is not known

//// 13.2.2 imports are no elements
package A constant Real k = 1; end A;
package B import A.k; constant Real b = k; end B;
model M parameter Real p = B.k; end M;
//! there is no 'k'

//// 13.2.2 imports cannot be modified
package A constant Real k = 1; end A;
model B import A.k; parameter Real q = k; end B;
model M B b(k = 2); end M;
//! there is no 'k'

//// 13.2.2 the order does not matter
package A constant Real k = 1; end A;
model M parameter Real p = k; import A.k; end M;
//= p 1

//// 13.2.2 two imports do not have the same name
package A constant Real k = 1; end A;
package B constant Real k = 2; end B;
model M import A.k; import B.k; parameter Real p = k; end M;
//! imported twice

//// 13.2.2 what is imported must be there
package A constant Real k = 1; end A;
model M import A.n; parameter Real p = n; end M;
//! there is no 'A.n' to import

//// 13.2.1 one can only import from packages
model A constant Real k = 1; Real x = 2; end A;
model M import A.k; parameter Real p = k; end M;
//! cannot be imported from the model 'A'

//// 13.2 only public elements are imported
package A protected constant Real k = 1; end A;
model M import A.k; parameter Real p = k; end M;
//! cannot be imported
