// Connections and conditional components: sections 4.4.5 and 9 of the specification.

//// 4.4.5 a component whose condition is false is not there, and its modification does not matter
model A parameter Real p = 1; end A;
model M parameter Boolean b = false; A a(p = 1 / 0) if b; parameter Real q = 2; end M;
//= q 2

//// 4.4.5 connections with it are removed
connector In = input Real;
connector Out = output Real;
model H In u; Out y = 2 * u; end H;
model M
  parameter Boolean b = false;
  H h if b;
  Out one = 1;
  In u = 5;
  H g;
equation
  connect(one, h.u);
  connect(u, g.u);
end M;
//= g.y 10

//// 4.4.5 a conditional component is used in connections only
connector In = input Real;
model M parameter Boolean b = true; In u if b; Real x = u; end M;
//! used outside of 'connect'

//// 4.4.5 the condition is looked up where the declaration is written, also of what replaces it
model R parameter Real p = 1; end R;
model S extends R(p = 2); end S;
model A parameter Boolean on = true; replaceable R r if on; end A;
model M parameter Boolean on = false; A a(redeclare S r); end M;
//= a.r.p 2

//// 4.4.5 a conditional part of both connectors is connected
connector Pin Real v; flow Real i; end Pin;
connector Plug parameter Boolean b = true; Pin main; Pin extra if b; end Plug;
model Source
  Plug plug;
  Pin inside;
equation
  connect(inside, plug.extra);
  plug.main.v = 1;
end Source;
model Load Pin p; equation p.v = 2 * p.i; end Load;
model Sink
  Plug plug;
  Load a, c;
equation
  connect(plug.main, a.p);
  connect(plug.extra, c.p);
end Sink;
model Volt Pin p; equation p.v = 6; end Volt;
model M
  Source s;
  Sink t;
  Volt v;
equation
  connect(s.plug, t.plug);
  connect(v.p, s.inside);
end M;
//= t.a.p.i 0.5
//= t.c.p.i 3

//// 4.4.5 a part that one side does not have is not connected
connector Pin Real v; flow Real i; end Pin;
connector Full constant Boolean on = true; Pin main; Pin extra if on; end Full;
connector Half Pin main; Pin extra if false; constant Boolean on = true; end Half;
model Load Pin p; equation p.v = 2 * p.i; end Load;
model A Full plug; Load c; equation plug.main.v = 4; connect(plug.extra, c.p); end A;
model B
  Half plug;
  Load a, c;
equation
  connect(plug.main, a.p);
  connect(plug.extra, c.p);
end B;
model M A x, z; B y; Half w; Load d; equation connect(x.plug, y.plug); connect(w, z.plug); connect(w.main, d.p); end M;
//= y.a.p.i 2
//= y.c.p.i 0
//= x.c.p.i 0
//= d.p.i 2

//// 4.4.5 a part that both sides leave out
connector Pin Real v; flow Real i; end Pin;
connector Plug parameter Boolean b = false; Pin main; Pin extra if b; end Plug;
model A Plug plug; equation plug.main.v = 4; end A;
model B Plug plug; equation plug.main.v = 2 * plug.main.i; end B;
model M A x; B y; equation connect(x.plug, y.plug); end M;
//= y.plug.main.i 2

//// 9.1 connectors that differ are not connected: the second has more
connector P Real v; flow Real i; end P;
connector Q Real v; flow Real i; Real w; end Q;
model A P p; equation p.v = 1; end A;
model B Q q; equation q.v = q.i; q.w = 3; end B;
model M A a; B b; equation connect(a.p, b.q); end M;
//! only one of them has 'w'

//// 9.1 connectors that differ are not connected: the first has more
connector P Real v; flow Real i; end P;
connector Q Real v; flow Real i; Real w; end Q;
model A P p; equation p.v = 1; end A;
model B Q q; equation q.v = q.i; q.w = 3; end B;
model M A a; B b; equation connect(b.q, a.p); end M;
//! only one of them has 'w'

//// 9.1 elements of connectors are connected by their names, not their order
connector P Real v; flow Real i; Real w; end P;
connector Q Real w; Real v; flow Real i; end Q;
model A P p; equation p.v = 1; p.w = 7; end A;
model B Q q; Real s = q.w; equation q.v = q.i; end B;
model M A a; B b; equation connect(a.p, b.q); end M;
//= b.s 7
//= b.q.i 1

//// 9.1 a redeclared connector
connector P Real v; flow Real i; end P;
connector Q extends P; Real w; end Q;
model A replaceable connector C = P; C c; equation c.v = 2; end A;
model B extends A(redeclare connector C = Q); equation c.w = 5; end B;
model D Q q; Real s = q.w; equation q.v = q.i; end D;
model M B b; D d; equation connect(b.c, d.q); end M;
//= d.s 5
//= d.q.i 2

//// 9.1.1 inner connectors: outside ones have the other sign
connector P Real v; flow Real i; end P;
model R P p; equation p.v = 2 * p.i; end R;
model Box P p; R r; equation connect(p, r.p); end Box;
model V P p; equation p.v = 6; end V;
model M V v; Box b; equation connect(v.p, b.p); end M;
//= b.p.i 3
//= b.r.p.i 3

//// 9.1.3 an expandable connector gets the elements that are connected to it
expandable connector Bus end Bus;
connector Out = output Real;
connector In = input Real;
model A Bus bus; Out y = 4; equation connect(y, bus.x); end A;
model B Bus bus; In u; Real z = u; equation connect(bus.x, u); end B;
model M A a; B b; equation connect(a.bus, b.bus); end M;
//= b.z 4

//// 9.1.3 a conditional component and an expandable connector
expandable connector Bus end Bus;
connector Out = output Real;
connector In = input Real;
model A parameter Boolean b = true; Bus bus; Out y = 4; Out n if b; H h(u = 1) if b;
  model H In u; Out y = 3 * u; end H;
equation connect(y, bus.x); connect(h.y, bus.extra); end A;
model B Bus bus; In u; Real z = u; equation connect(bus.x, u); end B;
model M A a(b = false); B b; equation connect(a.bus, b.bus); end M;
//= b.z 4

//// 4.4.5 a connection with a disabled component goes, also from an element that is not there then
connector In = input Real;
connector Out = output Real;
block Sum parameter Integer n = 1; In u[n]; Out y = sum(u); end Sum;
block S Out y = 5; end S;
model M parameter Boolean h = false; Sum s(n = if h then 2 else 1); S a; S b if h;
equation connect(s.u[1], a.y); connect(s.u[2], b.y); end M;
//= s.y 5

//// 7.1.3 a model that extends a record has inputs that can be connected
connector In = input Real;
connector Out = output Real;
record R parameter Real k = 2; end R;
block S Out y = 3; end S;
model B extends R; In u; Real y = k * u; end B;
model M B b; S s; equation connect(s.y, b.u); end M;
//= b.y 6
