/* test_initial_cases.c: initial values of many kinds: the right values, or the right diagnosis.
 *
 * A case says what must come out, derived by hand: values, words of a warning, or a contradiction.
 * A contradiction is the list of its members, each with an edit of the model that takes the member
 * away: a start value that is no longer fixed, an initial equation that is left out, an equation
 * with a free parameter, slack, added to one side. The conflict that is reported must have exactly
 * these members, and with any one of the edits the model must have initial values.
 */
#include "testing.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

typedef struct expected {
    const char *name;
    double value;
} expected;

typedef struct edit {
    const char *member;    /* a part of its words in the conflict */
    const char *from, *to; /* the edit; NULL: none is possible in the text */
} edit;

typedef struct initial_case {
    const char *what, *text;
    expected value[MOST];
    const char *says[4]; /* parts of the messages, warnings or failure */
    dae_status status;
    edit member[MOST];
    const char *keep;
} initial_case;

#define PENDULUM "der(x) = u; der(y) = v; der(u) = -F*x; der(v) = -F*y - 9.81; "

/* ---------------------------------------------------------------- values ---------------- */

static const initial_case good[] = {
    { "three roots in one, from the root itself",
      "model M Real x(start = 1), y(start = 1), z(start = 1); equation x + y + z = 3 + 0*time; "
      "x*y + y*z + z*x = 3; x*y*z = 1; end M;",
      .value = { { "x", 1 }, { "y", 1 }, { "z", 1 } },
      .says = { "a multiple root, where the Jacobian is singular" } },
    { "all four values of a pendulum on its side: the constraint of velocities says nothing of v",
      "model M Real x(start = 2, fixed = true), y(start = 0, fixed = true), "
      "u(start = 0, fixed = true), v(start = -3, fixed = true), F; equation " PENDULUM
      "x^2 + y^2 = 4; end M;",
      .value = { { "x", 2 }, { "y", 0 }, { "u", 0 }, { "v", -3 }, { "F", 2.25 } } },
    { "the same as initial equations, on the other side",
      "model M Real x, y, u, v, F; equation " PENDULUM "x^2 + y^2 = 0.25; "
      "initial equation v = 1; u = 0; y = 0; x = -0.5; end M;",
      .value = { { "x", -0.5 }, { "y", 0 }, { "u", 0 }, { "v", 1 }, { "F", 4 } } },
    { "hanging, and moving sideways",
      "model M Real x, y, u, v, F; equation " PENDULUM "x^2 + y^2 = 4; "
      "initial equation x = 0; y = -2; u = 5; v = 0; end M;",
      .value = { { "x", 0 }, { "y", -2 }, { "u", 5 }, { "v", 0 }, { "F", (25 + 2 * 9.81) / 4 } } },
    { "a bead at the bottom of y = x^2, all known: 2 u^2 = v' = -F - 9.81",
      "model M Real x, y, u, v, F; equation der(x) = u; der(y) = v; der(u) = 2*x*F; "
      "der(v) = -F - 9.81; y = x^2; initial equation y = 0; x = 0; v = 0; u = 3; end M;",
      .value = { { "x", 0 }, { "y", 0 }, { "u", 3 }, { "v", 0 }, { "F", -27.81 } } },
    { "a crank at its dead centre, all known",
      "model M Real a(start = 0, fixed = true), w(start = 4, fixed = true), "
      "b(start = 0, fixed = true), s(start = 3, fixed = true), z(start = 0, fixed = true); "
      "equation der(a) = w; der(w) = -sin(a); sin(a) = 2*sin(b); s = cos(a) + 2*cos(b); der(s) = "
      "z; end M;",
      .value = { { "a", 0 }, { "w", 4 }, { "b", 0 }, { "s", 3 }, { "z", 0 } } },
    { "a bob on a sphere, all six known",
      "model M Real r[3](start = {0, 0, -1}, each fixed = true), "
      "v[3](start = {2, 1, 0}, each fixed = true), F; equation der(r) = v; "
      "der(v) = -F*r + {0, 0, -9.81}; r*r = 1; end M;",
      .value = { { "r[3]", -1 }, { "v[1]", 2 }, { "v[2]", 1 }, { "v[3]", 0 }, { "F", 14.81 } } },
    { "the derivative of something that is no state",
      "model M Real x(start = 0.8), v(start = 0, fixed = true), y, z = -y; equation der(x) = v - "
      "x; "
      "der(v) = 1 - 2*v; y = 3*x + v; initial equation der(z) = 2; end M;",
      .value = { { "x", 1 }, { "y", 3 }, { "z", -3 } } },
    { "a loop with no value at one of its start values is entered at another",
      "model M Real x, y; equation x = cos(y) + 0*time; y = log(x); end M;",
      .value = { { "x", 1 }, { "y", 0 } } },
    { "the same, written the other way round",
      "model M Real y, x; equation y = log(x); x = cos(y) + 0*time; end M;",
      .value = { { "x", 1 }, { "y", 0 } } },
    { "and with a division: p = 3 + q^3, q = 1/p - 1/3",
      "model M Real p, q; equation p = 3 + q^3 + 0*time; q = 1/p - 1/3; end M;",
      .value = { { "p", 3 }, { "q", 0 } } },
    { "a fixed start", "model M Real x(start = 2, fixed = true); equation der(x) = -3*x; end M;",
      .value = { { "x", 2 }, { "der(x)", -6 } } },
    { "steady state: 3 = 2 sqrt(h)",
      "model M Real h(start = 1); equation der(h) = 3 - 2*sqrt(h); initial equation der(h) = 0; "
      "end M;",
      .value = { { "h", 2.25 }, { "der(h)", 0 } } },
    { "a fixed start of an algebraic variable: x^3 = 8",
      "model M Real x(start = 1), y(start = 8, fixed = true); equation der(x) = -x; y = x^3; end "
      "M;",
      .value = { { "x", 2 }, { "y", 8 } } },
    { "an alias with a sign",
      "model M Real x, y(start = 3, fixed = true); equation x = -y; der(x) = 1; end M;",
      .value = { { "x", -3 }, { "y", 3 } } },
    { "a free parameter: -6 = -k 2",
      "model M parameter Real k(fixed = false, start = 1); Real x(start = 2, fixed = true); "
      "equation der(x) = -k*x; initial equation der(x) = -6; end M;",
      .value = { { "k", 3 } } },
    { "two free parameters: q - 2 p = 1, q - p = 4",
      "model M parameter Real p(fixed = false), q(fixed = false); Real x(start = 2, fixed = true), "
      "y(start = 1, fixed = true); equation der(x) = q - p*x; der(y) = q - p*y; "
      "initial equation der(x) = 1; der(y) = 4; end M;",
      .value = { { "p", 3 }, { "q", 7 } } },
    { "a start value that a free parameter decides: x^2 = 9 from -2",
      "model M parameter Real a(fixed = false); Real x(start = a); equation x^2 = 9 + 0*time; "
      "initial equation 2*a = -4; end M;",
      .value = { { "x", -3 }, { "a", -2 } } },
    { "arrays: x = (1, 2, 3) s, sum 12",
      "model M Real x[3], s(start = 1); equation der(x) = -x; der(s) = 0; "
      "initial equation x = {1, 2, 3}*s; sum(x) = 12; end M;",
      .value = { { "x[1]", 2 }, { "x[2]", 4 }, { "x[3]", 6 }, { "s", 2 } } },
    { "a branch that depends on what it determines",
      "model M Real x(start = 1, fixed = true), y(start = 0); equation der(x) = y; "
      "2*y = if y > 1 then 6*x else 4*x; end M;",
      .value = { { "y", 3 } } },
    { "initial()",
      "model M Real x, y; equation y = if initial() then 5 else 1; der(x) = 1; "
      "initial equation x = y; end M;",
      .value = { { "x", 5 } } },
    { "redundant and consistent",
      "model M Real x(start = 1, fixed = true), y; equation der(x) = -x; y = 2*x; "
      "initial equation y = 2; end M;",
      .value = { { "x", 1 }, { "y", 2 } } },
    { "redundant and consistent, in an array",
      "model M Real x[3](start = {1, 2, 3}, each fixed = true), s; equation der(x) = -x; "
      "s = sum(x); initial equation s = 6; end M;",
      .value = { { "s", 6 }, { "x[3]", 3 } } },
    { "redundant and consistent, on the other branch: x^2 = 4 and x = -2",
      "model M Real x(start = 2), y; equation der(x) = -x; x^2 = y; "
      "initial equation y = 4; x = -2; end M;",
      .value = { { "x", -2 }, { "y", 4 } } },
    { "redundant and consistent to seven digits",
      "model M Real x(start = 0.7071068, fixed = true), y(start = -0.7071068, fixed = true), u, "
      "v, F; "
      "equation " PENDULUM "x^2 + y^2 - 1 = 0; end M;",
      .value = { { "x", 0.7071068 } } },
    { "redundant constraint values: a pendulum with all of x, y, u, v fixed and consistent",
      "model M Real x(start = 0.6, fixed = true), y(start = -0.8, fixed = true), "
      "u(start = 4, fixed = true), v(start = 3, fixed = true), F; equation " PENDULUM
      "x^2 + y^2 = 1; end M;", /* F = u^2 + v^2 - 9.81 y */
      .value = { { "F", 25 + 9.81 * 0.8 } } },
};

#define ROOTS(x, y, z)                                                                             \
    "model M Real x(start = " #x "), y(start = " #y "), z(start = " #z "); "                       \
    "equation x + y + z = 3 + 0*time; x*y + y*z + z*x = 3; x*y*z = 1; end M;"
#define IN_ONE                                                                                     \
    {                                                                                              \
        { "x", 1 }, { "y", 1 },                                                                    \
        {                                                                                          \
            "z", 1                                                                                 \
        }                                                                                          \
    }

static const initial_case poor[] = {
    { "a triple root in three unknowns, from beside it", ROOTS(1.1, 0.9, 1.05), .value = IN_ONE },
    { "a triple root in three unknowns, from farther away", ROOTS(3, -1, 1), .value = IN_ONE },
    { "a triple root in three unknowns, on one side", ROOTS(2, 1, 0.5), .value = IN_ONE },
    { "a triple root in three unknowns, from zero", ROOTS(0, 0, 0), .value = IN_ONE },
    { "a triple root in three unknowns, from itself", ROOTS(1, 1, 1), .value = IN_ONE,
      .says = { "a multiple root, where the Jacobian is singular" } },
    { "a triple root, expanded: it is not known to more than the third root of the rounding",
      "model M Real x(start = 2); equation x^3 - 3*x^2 + 3*x = 1 + 0*time; end M;",
      .value = { { "x", 1 } }, .says = { "is known roughly only", "holds at" } },
    { "atan from far away", "model M Real x(start = 50); equation atan(x - 1) + 0*time = 0; end M;",
      .value = { { "x", 1 } } },
    { "exp from far away", "model M Real x(start = 300); equation exp(x) = 2 + 0*time; end M;",
      .value = { { "x", 0.69314718055994531 } } },
    { "a start value where nothing is defined: log(x) + sqrt(x) = 1",
      "model M Real x(start = -5); equation log(x) + sqrt(x) = 1 + 0*time; end M;",
      .value = { { "x", 1 } } },
    { "a start at a singular point: x^3 = 8 from 0",
      "model M Real x; equation x^3 = 8 + 0*time; end M;", .value = { { "x", 2 } } },
    { "Rosenbrock's valley",
      "model M Real x(start = -1.2), y(start = 1); equation 10*(y - x^2) = 0*time; "
      "1 - x = 0*y; end M;",
      .value = { { "x", 1 }, { "y", 1 } } },
    { "Powell's badly scaled equations",
      "model M Real x(start = 0), y(start = 1); equation 1e4*x*y = 1 + 0*time; "
      "exp(-x) + exp(-y) = 1.0001; end M;",
      .value = { { "x", 1.0981593296999e-5 }, { "y", 9.1061467398665 } } },
    { "saturation: tanh(5 (x - 3)) + (x - 3) / 10 = 0 from -50",
      "model M Real x(start = -50); equation tanh(5*(x - 3)) + (x - 3)/10 + 0*time = 0; end M;",
      .value = { { "x", 3 } } },
    { "flat by rounding where it begins: tanh(x - 30) = 0.5 from 0.5",
      "model M Real x(start = 0.5); equation tanh(x - 30) = 0.5; end M;",
      .value = { { "x", 30.549306144334055 } } },
    { "the same with another unknown",
      "model M Real x(start = 0), y(start = 1); equation "
      "tanh(x - y - 30) = 0.5; y = x/2; end M;",
      .value = { { "x", 61.09861228866811 } } },
    { "exp(x) = 1e-300 from 10", "model M Real x(start = 10); equation exp(x) = 1e-300; end M;",
      .value = { { "x", -690.7755278982137 } } },
    { "a weak acid: the root with concentrations above 0",
      "model M Real H(start = 1e-7, min = 0), OH(start = 1e-7, min = 0), A(start = 1e-5, min = 0), "
      "HA(start = 1e-3, min = 0), T(start = 1e-3, fixed = true); equation H*OH = 1e-14; "
      "H*A = 1.8e-5*HA; A + HA = T; H = OH + A; der(T) = -0.1*T; end M;",
      .value = { { "H", 1.254656515e-4 }, { "HA", 8.745344282e-4 } } },
    { "y^2 = 4 with y in its range, as something else sees it",
      "model M Real x(start = 1), y(start = 1, min = 0); equation y = -x; x^2 = 4 + 0*time; end M;",
      .value = { { "y", 2 } } },
    { "a guess beside a pole",
      "model M Real s(start = 0, fixed = true), x(start = 2.0000000000000004); "
      "equation der(s) = 0.1; 1/(x - 2) = s - 5; end M;",
      .value = { { "x", 1.8 } } },
    { "another, a little farther",
      "model M Real s(start = 0, fixed = true), x(start = 2.000000000001); "
      "equation der(s) = 0.1; 1/(x - 2) = s - 5; end M;",
      .value = { { "x", 1.8 } } },
    { "a logistic curve from far below",
      "model M Real x(start = -5); equation 1/(1 + exp(-20*(x - 7))) = 0.3; end M;",
      .value = { { "x", 6.957635106980641 } } },
    { "homotopy(actual, simplified)",
      "model M Real x(start = 10); equation homotopy((x - 0.5)*exp(-1000*(x - 0.5)), x - 0.5) = 0; "
      "end M;",
      .value = { { "x", 0.5 } } },
    { "bounds choose the root",
      "model M Real x(max = 0, start = -1e-3); equation x^2 = 4 + "
      "0*time; "
      "end M;",
      .value = { { "x", -2 } } },
    { "a double root: (x - 1)^2 (x + 2) = 0 from 0.5",
      "model M Real x(start = 0.5); equation (x - 1)^2*(x + 2) + 0*time = 0; end M;",
      .value = { { "x", 1 } } },
    { "a root of order seven", /* known to the seventh root of rounding */
      "model M Real x(start = -1); equation (2*x)^3*x^4 = 0*time; end M;",
      .value = { { "x", 0 } } },
    { "an unknown far below its nominal value, where every step is short: log(y) = -36",
      "model M Real x(start = -36, fixed = true), y(start = 1e-10), z; equation der(x) = 0; "
      "log(y) = x; z = log(y); end M;",
      .value = { { "z", -36 } } },
    { "from far above: log(y) = -40 from 1",
      "model M Real x(start = -40, fixed = true), y(start = 1), z; equation der(x) = 0; "
      "log(y) = x; z = log(y); end M;",
      .value = { { "z", -40 } } },
    { "Arrhenius' law, cold: log(x) = -3000/T",
      "model M Real x(start = 0.5), T(start = 300), z; equation der(x) = 0; der(T) = 0; "
      "z = log(x); initial equation T = 100; log(x) = -3000/T; end M;",
      .value = { { "T", 100 }, { "z", -30 } } },
    { "a small root: sqrt(x) + x = 1e-6", /* sqrt(x) = 1e-6 - 1e-12 + 2e-18 */
      "model M Real x(start = 0.5), z; equation der(x) = 0; z = 1e12*x; "
      "initial equation sqrt(x) + x = 1e-6; end M;",
      .value = { { "z", 0.999998000005 } } },
    { "small beside one that is zero: log(y) = -36 - a, a = 0",
      "model M Real a(start = 1), y(start = 1e-10), z; equation der(a) = 0; der(y) = 0; "
      "z = log(y); initial equation sin(a) + a*y = 0; log(y) = -36 - a; end M;",
      .value = { { "a", 0 }, { "z", -36 } } },
    { "a double root at zero stays one: y^2 = 0",
      "model M Real y(start = 1); equation y^2 = 0*time; end M;", .value = { { "y", 0 } } },
    { "a double root, and nothing that contradicts: x = 1 is y = 0, u = 0",
      "model M Real x(start = 1, fixed = true), y(start = 0.1), u(start = 0, fixed = true), v, F; "
      "equation " PENDULUM "x^2 + y^2 = 1; end M;",
      .value = { { "x", 1 }, { "u", 0 } } },
    { "horizontal: where the start values are a double root, they stay as they are, and no trace "
      "is left",
      "model M Real x(start = 1, fixed = true), y, u(start = 0, fixed = true), v, F; "
      "equation " PENDULUM "x^2 + y^2 = 1; end M;",
      .value = { { "x", 1 }, { "u", 0 }, { "y", 0 }, { "F", 0 } } },
    { "decided by cancellation: x + y - (y + 2 x) = 1 is x = -1, and y is free",
      "model M Real x, y, z; initial equation x + y - z = 1; equation der(x) = 1; der(y) = 1; "
      "z = y + 2*x; end M;",
      .value = { { "x", -1 }, { "y", 0 }, { "z", -2 } },
      .says = { "the other conditions decide 'x' = -1" } },
    { "seven digits of a start value: what gives way is told",
      "model M Real x(start = 1, fixed = true), y(start = 3.000003, fixed = true); equation "
      "der(x) = 1; y = 3*x; end M;",
      .value = { { "y", 3.000003 } }, .says = { "x from 1 to 1.000001" } },
    { "sqrt at its border: y = sqrt(0)",
      "model M Real x(start = 0, fixed = true), y; equation der(x) = 1 - y; y = sqrt(x); end M;",
      .value = { { "x", 0 }, { "y", 0 }, { "der(x)", 1 } } },
    { "sqrt solved at its border from where it is not defined: sqrt(x) = 0 from -1",
      "model M Real x(start = -1); equation sqrt(x) = 0*time; end M;", .value = { { "x", 0 } } },
    { "sqrt solved at its border: sqrt(x) = 0 from 1",
      "model M Real x(start = 1), y; equation y = sqrt(x) + 0*time; y = 0*x; end M;",
      .value = { { "y", 0 } } },
};

/* A correction by the shortest way: q0 / |q0| on the circle, v - (v n) n for velocities. */
static const initial_case nearest[] = {
    { "a pendulum that is a little off",
      "model M Real x(start = 0.6), y(start = -0.7), u(start = 1), v(start = 1), F; equation "
      "" PENDULUM "x^2 + y^2 = 1; end M;",
      .value = { { "x", 0.650791373455968 },
                 { "y", -0.759256602365297 },
                 { "u", 1 + 0.06 / 0.85 },
                 { "v", 1 - 0.07 / 0.85 } },
      .says = { "were moved to the nearest", "x from 0.6 to 0.650791" } },
    { "consistent positions do not move for velocities: n = (0.6, -0.8), v - (v n) n",
      "model M Real x(start = 0.6), y(start = -0.8), u(start = 1), v(start = 2), F; equation "
      "" PENDULUM "x^2 + y^2 = 1; end M;",
      .value = { { "x", 0.6 }, { "y", -0.8 }, { "u", 1.6 }, { "v", 1.2 } } },
    { "a guess outside by a factor of five",
      "model M Real x(start = 3), y(start = -4), u, v, F; equation " PENDULUM
      "x^2 + y^2 = 1; end M;",
      .value = { { "x", 0.6 }, { "y", -0.8 } } },
    { "a guess close to the centre",
      "model M Real x(start = 0.03), y(start = -0.04), u, v, F; equation " PENDULUM
      "x^2 + y^2 = 1; end M;",
      .value = { { "x", 0.6 }, { "y", -0.8 } } },
    { "beyond the end of one coordinate",
      "model M Real x(start = 2), y(start = 0), u, v, F; equation " PENDULUM
      "x^2 + y^2 = 1; end M;",
      .value = { { "x", 1 }, { "y", 0 } } },
    { "in millimetres it is the same point",
      "model M Real x(start = 600, unit = \"mm\"), y(start = -700, unit = \"mm\"), u, v, F; "
      "equation " PENDULUM "x^2 + y^2 = 1e6; end M;",
      .value = { { "x", 650.791373455968 }, { "y", -759.256602365297 } } },
    { "a sphere: (2, 1, 2) / 3",
      "model M Real q[3](start = {2, 1, 2}), w[3], F; equation der(q) = w; "
      "der(w) = -F*q + {0, 0, -9.81}; q*q = 1; end M;",
      .value = { { "q[1]", 2.0 / 3 }, { "q[2]", 1.0 / 3 }, { "q[3]", 2.0 / 3 } } },
    { "nominal values: the correction 1 is shared as 1 : 4",
      "model M Real x(start = 1, nominal = 1), y(start = 1, nominal = 2), z; equation der(x) = z; "
      "der(y) = 3*z; x + y = 3 + 2*time; end M;",
      .value = { { "x", 1.2 }, { "y", 1.8 }, { "z", 0.5 } } },
    { "a pendulum held out horizontally, where x cannot be a state",
      "model M Real x(start = 1, fixed = true), y(start = 0), u(start = 0, fixed = true), v, F; "
      "equation " PENDULUM "x^2 + y^2 = 1; end M;",
      .value = { { "x", 1 }, { "u", 0 } } },
    { "a constraint that moves: u n = 1 (n = (0.6, -0.8))",
      "model M Real x(start = 0.6), y(start = -0.8), u(start = 0), v(start = 0), F; equation "
      "" PENDULUM "x^2 + y^2 = (1 + time)^2; end M;",
      .value = { { "u", 0.6 }, { "v", -0.8 } } },
    { "stateSelect: x is what counts",
      "model M Real x(start = 0.6, stateSelect = StateSelect.prefer), y(start = -0.7), u, v, F; "
      "equation " PENDULUM "x^2 + y^2 = 1; end M;",
      .value = { { "x", 0.6 }, { "y", -0.8 } } },
    { "fixed: x is what counts",
      "model M Real x(start = 0.6, fixed = true), y(start = -0.7), u(start = 1), v(start = 1, "
      "fixed = true), F; equation " PENDULUM "x^2 + y^2 = 1; end M;",
      .value = { { "x", 0.6 }, { "y", -0.8 }, { "u", 4.0 / 3 }, { "v", 1 } } },
    { "kept: the same from outside",
      "model M Real x(start = 0.6), y(start = -0.7), u, v, F; equation " PENDULUM
      "x^2 + y^2 = 1; end M;",
      .value = { { "x", 0.6 }, { "y", -0.8 } }, .keep = "x" },
    { "index 2: a charge shared by two tanks, their levels equal: (1 + 3) / 2",
      "model M Real a(start = 1), b(start = 3), f; equation der(a) = f; der(b) = 1 - f; a = b + "
      "0*f; "
      "end M;",
      .value = { { "f", 0.5 } } },
    { "index 2, p q = 12 from p = 2, q = 5: 5 p' + 2 q' = 0 makes q the state, and its start holds",
      "model M Real p(start = 2), q(start = 5), f; equation der(p) = f; der(q) = -f + time; "
      "p*q = 12; end M;",
      .value = { { "p", 2.4 }, { "q", 5 } },
      .says = { "gave way to those of states", "p from 2 to 2.4" } },
    { "the same, p preferred",
      "model M Real p(start = 2, stateSelect = StateSelect.prefer), "
      "q(start = 5), f; equation der(p) = f; der(q) = -f + time; p*q = 12; end M;",
      .value = { { "p", 2 }, { "q", 6 } }, .says = { "q from 5 to 6" } },
    { "the same with nominal values, which are weights: p (p - 2) = q (q - 5), p q = 12",
      "model M Real p(start = 2, nominal = 1), q(start = 5, nominal = 1), f; equation der(p) = f; "
      "der(q) = -f + time; p*q = 12; end M;",
      .value = { { "p", 2.330329600981102 }, { "q", 5.149486147774044 } },
      .says = { "were moved to the nearest" } },
    { "a guess beside what is fixed is where the search begins, and not worth a word",
      "model M Real p(start = -3, fixed = true), q(start = -5), f; equation der(p) = f; der(q) = "
      "-f + time; p*q = 12; end M;",
      .value = { { "p", -3 }, { "q", -4 } } },
    { "of equal variables the start set further out counts: -3, of the two solutions of x^2 = 9",
      "package P model A Real x(start = 1), y(start = 4); equation x = y; x*y = 9 + 0*time; end A; "
      "model B A a(y(start = 3)); end B; model M B b(a(x(start = -3))); end M; end P;",
      .value = { { "b.a.x", -3 } } },
    { "the same by a parameter that is set further out",
      "package P model A parameter Real s = 1; Real x(start = s), y(start = 4); equation x = y; "
      "x*y = 9 + 0*time; end A; model B A a(s = -2); end B; model M B b(a(y(start = 3))); "
      "B c(a(s = -3)); end M; end P;",
      .value = { { "b.a.x", 3 }, { "c.a.x", -3 } } },
    { "a start that comes with the type gives way to one that is declared",
      "package P type T = Real(start = 2); model M T x; Real y(start = -4); equation x = y; "
      "x*x = 9 + 0*time; end M; end P;",
      .value = { { "x", -3 } } },
    { "among states, too: p is set from outside, 12/2",
      "package P model A Real p(start = 1), q(start = 5), f; equation der(p) = f; der(q) = -f + "
      "time; p*q = 12; end A; model M A a(p(start = 2)); end M; end P;",
      .value = { { "a.p", 2 }, { "a.q", 6 } } },
    { "relations as the guesses have them leave no solution, the others do: y = 4 where y < 5",
      "model M Real x(start = 9), y(start = 9); equation der(x) = -x; y = x; initial equation "
      "if y > 5 then x = 1; else x = 4; end if; end M;",
      .value = { { "x", 4 } } },
    { "homotopy whose simplified equations need another branch than the guesses: u = 0.5",
      "model M Real x(start = 1), u(start = 2), s(start = 1); parameter Real r(fixed = false); "
      "initial equation der(x) = 0; if u > s then u = s + 1; else x = 0.5; end if; equation "
      "der(x) = s - x; s = homotopy(if u > 1 then 1 else u, u); u = r - x; end M;",
      .value = { { "x", 0.5 }, { "u", 0.5 }, { "r", 1 } } },
    { "consistent positions stay beside a state of first order that is told to be at rest",
      "model M Real x(start = 0.6), y(start = -0.8), u(start = 0, fixed = true), v, F, "
      "z(start = 0.3); equation " PENDULUM "x^2 + y^2 = 1; der(z) = -z + max(y, 0.3); "
      "initial equation der(z) = 0; end M;",
      .value = { { "x", 0.6 }, { "y", -0.8 }, { "v", 0 }, { "z", 0.3 } } },
    { "the same, the state before them, and its guess is not the value",
      "model M Real z(start = 7), x(start = 0.6), y(start = -0.8), u(start = 0, fixed = true), v, "
      "F; equation " PENDULUM "x^2 + y^2 = 1; der(z) = -z + y; initial equation der(z) = 0; end "
      "M;",
      .value = { { "x", 0.6 }, { "y", -0.8 }, { "z", -0.8 } } },
    { "velocities stay, too: F = u^2 + v^2 - 9.81 y",
      "model M Real z(start = 7), x(start = 0.6), y(start = -0.8), u(start = 4), v(start = 3), F; "
      "equation " PENDULUM "x^2 + y^2 = 1; der(z) = -z + max(v, 2); "
      "initial equation der(z) = 0; end M;",
      .value = { { "x", 0.6 },
                 { "y", -0.8 },
                 { "u", 4 },
                 { "v", 3 },
                 { "z", 3 },
                 { "F", 25 + 9.81 * 0.8 } } },
    { "positions that are off move to the nearest, and the state at rest follows them",
      "model M Real z(start = 7), x(start = 1.2), y(start = -1.6), u(start = 0, fixed = true), v, "
      "F; equation " PENDULUM "x^2 + y^2 = 1; der(z) = -z + y; initial equation der(z) = 0; end "
      "M;",
      .value = { { "x", 0.6 }, { "y", -0.8 }, { "z", -0.8 } } },
    { "with nominal values on one side only the state counts: q = 5 holds",
      "model M Real p(start = 2, nominal = 1), q(start = 5), f; equation der(p) = f; "
      "der(q) = -f + time; p*q = 12; end M;",
      .value = { { "p", 2.4 }, { "q", 5 } } },
    { "index 4: everything follows from x1 = sin(t), whatever the guesses",
      "model M Real x1(start = 5), x2(start = 5), x3(start = 5), x4(start = 5); equation "
      "x1 = sin(time); der(x1) = x2; der(x2) = x3; der(x3) = x4; end M;",
      .value = { { "x1", 0 }, { "x2", 1 }, { "x3", 0 }, { "x4", -1 } } },
};

/* A guess gives way where it cannot hold, though nothing competes with it. */
static const initial_case yielding[] = {
    { "beyond what a constraint allows: x^2 + y^2 = 1/4 from x = 1",
      "model M Real x(start = 1), y(start = 0.1), c; equation der(x) = y; x^2 + y^2 = 0.25; "
      "c = 4*(x^2 + y^2); end M;",
      .value = { { "c", 1 } }, .says = { "moved", "x from 1 to" } },
    { "a free parameter with a start that leaves no solution: y^2 = p from p = -1",
      "model M parameter Real p(fixed = false, start = -1); Real y(start = 1), c; equation "
      "y^2 = p + 0*time; c = y^2 - p; end M;",
      .value = { { "c", 0 } }, .says = { "p from -1 to" } },
};

static const initial_case open_cases[] = {
    { "conditions are missing: starts are taken, and said so",
      "model M Real x(start = 1), y; equation der(x) = -x; der(y) = -y; end M;",
      .value = { { "x", 1 }, { "y", 0 } },
      .says = { "2 initial conditions are missing", "x = 1", "y = 0" } },
    { "a free parameter without a condition",
      "model M parameter Real k(fixed = false, start = 4); Real x(start = 1, fixed = true); "
      "equation der(x) = -k*x; end M;",
      .value = { { "k", 4 } },
      .says = { "1 initial condition "
                "is missing",
                "k = 4" } },
    { "not determined at the initial time: y = t (x + 1), x y + y = 0",
      "model M Real x(start = 2), y; equation y = time*(x + 1); x*y + y = 0; end M;",
      .value = { { "x", 2 }, { "y", 0 } }, .says = { "do not determine x there" } },
    { "steady state that leaves one value open: x = y",
      "model M Real x(start = 3), y(start = 3); equation der(x) = y - x; der(y) = x - y; "
      "initial equation der(x) = 0; der(y) = 0; end M;",
      .value = { { "x", 3 }, { "y", 3 } },
      .says = { "leave 1 value free", "fix the start value" } },
    { "initial equations that say the same twice: a + b = 3",
      "model M Real a(start = 1), b(start = 1), c; equation der(a) = -a; der(b) = -b; c = a + b; "
      "initial equation a + b = 3; 2*a + 2*b = 6; end M;",
      .value = { { "c", 3 } }, .says = { "leave 1 value free", "a", "b" } },
    { "dependent but for rounding, and consistent: the first is twice the second and three times "
      "the third",
      "model M Real x[3], z; equation der(x) = {0, 0, 0}; z = x[1] - 3*x[3]; initial equation "
      "7*x[1] - 2*x[2] - 13*x[3] = 6; 2*x[1] - x[2] - 2*x[3] = -6; x[1] - 3*x[3] = 6; end M;",
      .value = { { "z", 6 } }, .says = { "leave 1 value free", "x[1]", "x[2]", "x[3]" } },
    { "dependent, and consistent but for rounding: the first is 0.2 of the second less 0.1 of the "
      "third",
      "model M Real x[3], z; equation der(x) = {0, 0, 0}; z = 1.03*x[1] + 1.46*x[3]; initial "
      "equation 1.03*x[1] + 1.4600000000000002*x[3] = -0.76999999999999957; "
      "5*x[1] + 0.1*x[2] + 7*x[3] = -3.8000000000000007; "
      "-0.3*x[1] + 0.2*x[2] - 0.6*x[3] = 0.10000000000000009; end M;",
      .value = { { "z", -0.77 } }, .says = { "leave 1 value free" } },
};

/* ---------------------------------------------------------------- no solution ----------- */

static const initial_case none[] = {
    { "no real solution", "model M Real y(start = 1); equation y^2 + 1 = 0*time; end M;",
      .status = DAE_E_INCONSISTENT, .member = { { "y^2 + 1", "+ 1", "+ slack" } },
      .says = { "no solution", "differ by 1, at y = 0", "test.mo:1:" } },
    { "no real solution with this parameter",
      "model M parameter Real L = -4; Real y(start = 1); equation y^2 = L + 0*time; end M;",
      .status = DAE_E_INCONSISTENT, .member = { { "with L = -4", "L + 0", "L + slack + 0" } },
      .says = { "differ by 4, at y = 0" } },
    { "sin(x) = 2", "model M Real x(start = 1); equation sin(x) = 2 + 0*time; end M;",
      .status = DAE_E_INCONSISTENT, .member = { { "sin(x) = 2", "= 2", "= slack" } },
      .says = { "differ by 1, at x = 1.570" } },
    { "the border of sqrt", "model M Real x(start = 1); equation sqrt(x) = -1 + 0*time; end M;",
      .status = DAE_E_INCONSISTENT, .member = { { "sqrt(x)", "= -1", "= slack" } },
      .says = { "differ by 1, at x = 0" } },
    { "a bound in the way: x^3 = -8, x >= 0",
      "model M Real x(start = 1, min = 0); equation x^3 = -8 + 0*time; end M;",
      .status = DAE_E_INCONSISTENT, .member = { { "x^3 = -8", "= -8", "= 8 + slack" } },
      .says = { "differ by 8, at x = 0 (its min)" } },
    { "a pole, where the sign changes", "model M Real x(start = 2); equation 1/x = 0; end M;",
      .status = DAE_E_INCONSISTENT, .member = { { "1/x = 0", "= 0", "= 1 + slack" } } },
    { "at infinity, flat where it begins",
      "model M Real x(start = 0); equation tanh(x - 30) = 1; end M;", .status = DAE_E_INCONSISTENT,
      .member = { { "tanh(x - 30) = 1", "= 1", "= 0.5 + slack" } } },
    { "only at infinity", "model M Real x(start = 1); equation exp(x) = 0*time; end M;",
      .status = DAE_E_INCONSISTENT, .member = { { "exp(x)", "exp(x)", "exp(x) - slack - 1" } } },
    { "a circle and a line that miss each other",
      "model M Real x(start = 1), y(start = 2); equation x^2 + y^2 = 1 + 0*time; x + y = 3; end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "x^2 + y^2 = 1", "= 1 +", "= 1 + slack +" },
                  { "x + y = 3", "= 3", "= 3 + slack" } } },
    { "parallel lines", "model M Real x, y; equation x + y = 1; 2*x + 2*y = 3 + 0*time; end M;",
      .status = DAE_E_STRUCTURE,
      .member = { { "x + y = 1", "x + y", "x - y" },
                  { "2*x + 2*y = 3", "2*x + 2*y", "2*x + y" } } },
    { "the same line twice: the model does not determine x and y",
      "model M Real x, y; equation x + y = 1; 2*x + 2*y = 2 + 0*time; end M;",
      .status = DAE_E_STRUCTURE, .says = { "depend on each other", "determines nothing" } },
};

static const initial_case contradictory[] = {
    { "F = 20 holds nowhere on the circle, whatever x: F = 9.81 y - u^2 - v^2",
      "model M Real x(start = 0.6, fixed = true), y(start = -0.8), u(start = 1), v, F; equation "
      "der(x) = u; der(y) = v; der(u) = F*x; der(v) = F*y - 9.81; x^2 + y^2 = 1; "
      "initial equation F = 20; end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'F = 20'", "initial equation F = 20;", "" },
                  { "der(der(x)) = der(u)", NULL, NULL },
                  { "der(u) = F*x", NULL, NULL },
                  { "der(v) = F*y - 9.81", NULL, NULL },
                  { "x^2 + y^2 = 1", NULL, NULL },
                  { "2*der(x)*der(x)", NULL, NULL } } },
    { "a fixed value and an initial equation",
      "model M Real x(start = 1, fixed = true); equation der(x) = -x; initial equation x = 2; "
      "end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'x = 1'", ", fixed = true", "" }, { "'x = 2'", "x = 2;", "" } } },
    { "small values that differ all the same",
      "model M Real x(start = 1e-6, fixed = true); equation der(x) = -x; initial equation x = "
      "2e-6; "
      "end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'x = 1e-06'", ", fixed = true", "" }, { "'x = 2e-6'", "x = 2e-6;", "" } } },
    { "through an equation",
      "model M Real x(start = 1, fixed = true), y; equation der(x) = -x; y = 2*x; "
      "initial equation y = 5; end M;",
      .status = DAE_E_INCONSISTENT, .says = { "too many initial conditions", "these 3 cannot" },
      .member = { { "'x = 1'", ", fixed = true", "" },
                  { "'y = 5'", "y = 5;", "" },
                  { "'y = 2*x'", "2*x", "2*x + slack" } } },
    { "a fixed value that a constraint does not allow",
      "model M parameter Real L = 0.5; Real x(start = 1, fixed = true), y(start = 0.1); equation "
      "der(x) = y; x^2 + y^2 = L^2; end M;",
      .status = DAE_E_INCONSISTENT, .says = { "with L = 0.5", "nearest approach" },
      .member = { { "'x = 1'", ", fixed = true", "" }, { "x^2 + y^2", "L^2", "L^2 + slack" } } },
    { "a constraint, violated by fixed positions",
      "model M Real x(start = 0.6, fixed = true), y(start = -0.7, fixed = true), u, v, F; "
      "equation " PENDULUM "x^2 + y^2 = 1; end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'x = 0.6'", "0.6, fixed = true", "0.6" },
                  { "'y = -0.7'", "-0.7, fixed = true", "-0.7" },
                  { "x^2 + y^2 = 1", "= 1;", "= 1 + slack;" } } },
    { "a hidden constraint, violated by fixed velocities",
      "model M Real x(start = 0.6, fixed = true), y, u(start = 1, fixed = true), "
      "v(start = 1, fixed = true), F; equation " PENDULUM "x^2 + y^2 = 1; end M;",
      .status = DAE_E_INCONSISTENT, .says = { "hidden constraint", "follows from the equation" },
      .member = { { "'x = 0.6'", "0.6, fixed = true", "0.6" },
                  { "'u = 1'", "u(start = 1, fixed = true", "u(start = 1" },
                  { "'v = 1'", "v(start = 1, fixed = true", "v(start = 1" },
                  { "hidden constraint", "", NULL },
                  { "'x^2 + y^2 = 1'", "= 1;", "= 1 + slack;" },
                  { "'der(y) = v'", "der(y) = v;", "der(y) = v + slack;" } } },
    { "two conditions for one free parameter",
      "model M parameter Real p(fixed = false, start = 1); Real x(start = 1, fixed = true); "
      "equation der(x) = -p*x; initial equation der(x) = -3; p = 2; end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'x = 1'", "start = 1, fixed = true", "start = 1" },
                  { "'der(x) = -3'", "der(x) = -3;", "" },
                  { "'p = 2'", "p = 2;", "" },
                  { "'der(x) = -p*x'", "-p*x", "-p*x + slack" } } },
    { "an array",
      "model M Real x[3](start = {1, 2, 3}, fixed = {true, true, true}), s; equation der(x) = -x; "
      "s = sum(x); initial equation s = 7; end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'x[1] = 1'", "{true, true, true}", "{false, true, true}" },
                  { "'x[2] = 2'", "{true, true, true}", "{true, false, true}" },
                  { "'x[3] = 3'", "{true, true, true}", "{true, true, false}" },
                  { "'s = 7'", "s = 7;", "" },
                  { "s = x[1]", "sum(x)", "sum(x) + slack" } } },
    { "two aliases, both fixed",
      "model M Real x(start = 1, fixed = true), y(start = 2, fixed = true); equation x = y; "
      "der(x) = 1; end M;",
      .status = DAE_E_INCONSISTENT, .says = { "'x' and 'y' are the same" },
      .member = { { "'x = 1'", "1, fixed = true", "1" }, { "'y = 2'", "2, fixed = true", "2" } } },
    { "a constant, fixed at another value",
      "model M Real x(start = 1, fixed = true), z(start = 0, fixed = true); equation x = 2; "
      "der(z) = x; end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'x = 1'", "1, fixed = true", "1" },
                  { "'x = 2'", "x = 2;", "x = 2 + slack;" } } },
    { "below the border of sqrt",
      "model M Real x(start = -1, fixed = true), y; equation der(x) = y; y = sqrt(x); end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'x = -1'", ", fixed = true", "" }, { "sqrt(x)", "sqrt(x)", "slack + 1" } } },
    { "1/x at 0",
      "model M Real x(start = 0, fixed = true), y; equation der(x) = 1; y = 1/x; end "
      "M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'x = 0'", ", fixed = true", "" }, { "y = 1/x", "1/x", "slack + x" } } },
    { "at the border of log",
      "model M Real x(start = 0, fixed = true), y(start = 1, fixed = true); equation der(x) = 1; "
      "y = log(x); end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'x = 0'", "0, fixed = true", "0" }, { "log(x)", "log(x)", "slack" } } },
    { "index 2: levels whose sum is given, fixed at other values",
      "model M Real a(start = 1, fixed = true), b(start = 3, fixed = true), f; equation "
      "der(a) = f; der(b) = 2*f; a + b = 5 + time; end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'a = 1'", "1, fixed = true", "1" },
                  { "'b = 3'", "3, fixed = true", "3" },
                  { "'a + b = 5", "= 5", "= 5 + slack" } } },
    { "dependent but for rounding: the first is twice the second and three times the third",
      "model M Real x[3]; equation der(x) = {0, 0, 0}; initial equation "
      "7*x[1] - 2*x[2] - 13*x[3] = 6; 2*x[1] - x[2] - 2*x[3] = -6; x[1] - 3*x[3] = 7; end M;",
      .status = DAE_E_INCONSISTENT, .says = { "contradict each other" },
      .member = { { "'7*x[1]", "7*x[1] - 2*x[2] - 13*x[3] = 6;", "" },
                  { "'2*x[1]", "2*x[1] - x[2] - 2*x[3] = -6;", "" },
                  { "'x[1] - 3*x[3] = 7'", "x[1] - 3*x[3] = 7;", "" } } },
    { "the same in decimals that are not exact",
      "model M Real x[3]; equation der(x) = {0, 0, 0}; initial equation "
      "0.7*x[1] - 0.2*x[2] - 1.3*x[3] = 6; 0.2*x[1] - 0.1*x[2] - 0.2*x[3] = -6; "
      "0.1*x[1] - 0.3*x[3] = 7; end M;",
      .status = DAE_E_INCONSISTENT, .says = { "contradict each other" },
      .member = { { "'0.7*x[1]", "0.7*x[1] - 0.2*x[2] - 1.3*x[3] = 6;", "" },
                  { "'0.2*x[1]", "0.2*x[1] - 0.1*x[2] - 0.2*x[3] = -6;", "" },
                  { "'0.1*x[1]", "0.1*x[1] - 0.3*x[3] = 7;", "" } } },
    { "a hidden constraint, violated at a singular point: x = 1 is y = 0, and that is u = 0",
      "model M Real x(start = 1, fixed = true), y(start = 0.1), u(start = 1, fixed = true), v, F; "
      "equation " PENDULUM "x^2 + y^2 = 1; end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'x = 1'", "x(start = 1, fixed = true)", "x(start = 1)" },
                  { "'u = 1'", 0, 0 },
                  { "'x^2 + y^2 = 1'", 0, 0 },
                  { "'2*x*der(x)", 0, 0 } } },
    { "two of four: x = 1, y = 1 fit the circle, and x + y = 0 does, but not all three",
      "model M Real x(start = 1, fixed = true), y(start = 1, fixed = true); initial equation "
      "x^2 + y^2 = 2; x + y = 0; equation der(x) = 1; der(y) = 1; end M;",
      .status = DAE_E_INCONSISTENT,
      .member = { { "'x = 1'", "x(start = 1, fixed = true)", "x(start = 1)" },
                  { "'y = 1'", "y(start = 1, fixed = true)", "y(start = 1)" },
                  { "'x + y = 0'", "x + y = 0;", "" } } },
    { "a fixed start out of range",
      "model M Real x(min = 0, start = -1, fixed = true); equation der(x) = 1; end M;",
      .status = DAE_E_INCONSISTENT, .says = { "'x' is out of range", "min = 0" } },
    { "a fixed start out of the range of what is equal to it",
      "model M Real x(start = 1, fixed = true), y(min = 0); equation der(x) = -x; y = -x; end M;",
      .status = DAE_E_INCONSISTENT, .says = { "'x' is out of range", "'y' (", "equal to -'x'" } },
    { "equations decide beside bounds: that is told",
      "model M Real x(start = 1, fixed = true), y(min = 3, start = 3.5), q(max = 0.5), z(max = "
      "-5), w; "
      "equation der(x) = -x; y^2 = 4*x; q = 2*sqrt(x); z = -w; w = x/2 - 8; end M;",
      .says = { "out of range", "'q' is 2, max = 0.5", "'z' is 7.5, max = -5" } },
};

/* ---------------------------------------------------------------- the machinery --------- */

static dae_model *load(const char *text)
{
    dae_model *m = dae_model_load_text("test.mo", text, strlen(text), NULL);
    if (dae_model_status(m) != DAE_OK) print_error("%s\n%s\n", text, dae_model_messages(m));
    assert_int_equal(dae_model_status(m), DAE_OK);
    return m;
}

/* Initial values of all variables; the caller frees them. */
static double *begin(dae_model *m, dae_status *status)
{
    size_t n = (size_t)dae_model_problem(m)->size;
    double *x = calloc(2 * n + 2, sizeof *x);
    double *value = calloc(dae_model_variable_count(m) + 1, sizeof *value);
    assert_non_null(x);
    assert_non_null(value);
    *status = dae_model_initialize(m, 0, x, x + n + 1);
    if (*status == DAE_OK) *status = dae_model_values(m, 0, x, x + n + 1, value);
    free(x);
    return value;
}

static void check_says(const initial_case *k, dae_model *m)
{
    for (int i = 0; i < 4 && k->says[i]; i++) {
        if (!strstr(dae_model_messages(m), k->says[i]))
            print_error("%s: no '%s' in\n%s\n", k->what, k->says[i], dae_model_messages(m));
        assert_non_null(strstr(dae_model_messages(m), k->says[i]));
    }
}

static void check_values(const initial_case *k)
{
    dae_status status;
    dae_model *m = load(k->text);
    if (k->keep) assert_int_equal(dae_model_keep(m, k->keep), DAE_OK);
    double *value = begin(m, &status);
    if (status != DAE_OK) print_error("%s\n%s\n", k->what, dae_model_messages(m));
    assert_int_equal(status, DAE_OK);
    for (int i = 0; i < MOST && k->value[i].name; i++) {
        size_t at = dae_model_find(m, k->value[i].name);
        assert_true(at < dae_model_variable_count(m));
        double should = k->value[i].value, within = 1e-9 * fmax(1, fabs(should));
        if (!strncmp(k->what, "a double root", 13)) within = 1e-7; /* the root of the rounding */
        if (!strncmp(k->what, "a triple root", 13)) within = 3e-5; /* the third one */
        if (!(fabs(value[at] - should) <= within))
            print_error("%s: %s = %.15g, not %.15g\n", k->what, k->value[i].name, value[at],
                        should);
        assert_true(fabs(value[at] - should) <= within);
    }
    check_says(k, m);
    free(value);
    dae_model_close(m);
}

/* The text with one edit; a free parameter `slack` is declared if the edit speaks of it. */
static void apply(char *out, size_t size, const char *text, const edit *e)
{
    const char *at = strstr(text, e->from), *body = strstr(text, "model M ") + 8;
    if (!at) print_error("no '%s' in %s\n", e->from, text);
    assert_non_null(at);
    if (strstr(e->to, "slack"))
        snprintf(out, size, "model M parameter Real slack(fixed = false); %.*s%s%s",
                 (int)(at - body), body, e->to, at + strlen(e->from));
    else
        snprintf(out, size, "%.*s%s%s", (int)(at - text), text, e->to, at + strlen(e->from));
}

static void check_edit(const initial_case *k, const edit *e)
{
    char text[2000];
    dae_status status;
    if (!e->to) return;
    apply(text, sizeof text, k->text, e);
    dae_model *m = load(text);
    free(begin(m, &status));
    if (status != DAE_OK)
        print_error("%s: without %s\n%s\n%s\n", k->what, e->member, text, dae_model_messages(m));
    assert_int_equal(status, DAE_OK);
    dae_model_close(m);
}

/* Refused when loaded: the equations cannot hold together, or are one too few, at no time. */
static void check_refusal(const initial_case *k)
{
    dae_model *m = dae_model_load_text("test.mo", k->text, strlen(k->text), NULL);
    assert_int_equal(dae_model_status(m), k->status);
    check_says(k, m);
    for (size_t i = 0; i < MOST && k->member[i].member; i++) {
        assert_non_null(strstr(dae_model_messages(m), k->member[i].member));
        check_edit(k, &k->member[i]);
    }
    dae_model_close(m);
}

static void check_failure(const initial_case *k)
{
    if (k->status == DAE_E_STRUCTURE) {
        check_refusal(k);
        return;
    }
    dae_status status;
    dae_initial found;
    dae_model *m = load(k->text);
    size_t members = 0;
    free(begin(m, &status));
    if (status != k->status) print_error("%s: %d\n%s\n", k->what, status, dae_model_messages(m));
    assert_int_equal(status, k->status);
    check_says(k, m);
    assert_int_equal(dae_model_get_initial(m, &found), DAE_OK);
    for (; members < MOST && k->member[members].member; members++) {
        size_t i = 0;
        while (i < found.conflicts && !strstr(found.conflict[i], k->member[members].member)) i++;
        if (i == found.conflicts)
            print_error("%s: no '%s' in\n%s\n", k->what, k->member[members].member,
                        dae_model_messages(m));
        assert_true(i < found.conflicts);
        check_edit(k, &k->member[members]);
    }
    if (found.conflicts != members) print_error("%s\n%s\n", k->what, dae_model_messages(m));
    assert_int_equal(found.conflicts, members);
    dae_model_close(m);
}

#define RUN(table, check)                                                                          \
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) check(&table[i])

static void test_good(void **state)
{
    (void)state;
    RUN(good, check_values);
}

static void test_poor_guesses(void **state)
{
    (void)state;
    RUN(poor, check_values);
}

static void test_nearest(void **state)
{
    (void)state;
    RUN(nearest, check_values);
    RUN(yielding, check_values);
}

static void test_too_few(void **state)
{
    (void)state;
    RUN(open_cases, check_values);
}

static void test_no_solution(void **state)
{
    (void)state;
    RUN(none, check_failure);
}

static void test_contradictions(void **state)
{
    (void)state;
    RUN(contradictory, check_failure);
}

/* ---------------------------------------------------------------- beside values --------- */

static const dae_initial_value *value_named(const dae_initial *found, const char *name)
{
    for (size_t i = 0; i < found->values; i++)
        if (!strcmp(found->value[i].name, name)) return &found->value[i];
    print_error("no %s\n", name);
    assert_true(0);
    return NULL;
}

/* Every role once, and the constraints of a pendulum: g, its derivative, the second one. */
static void test_report(void **state)
{
    (void)state;
    dae_status status;
    dae_initial found;
    static const char *const text =
        "model M Real x(start = 0.6), y(start = -0.7), u(start = 1), v(start = 1), F(start = 3), "
        "p(start = 2, fixed = true), q(start = 5), r, w; equation " PENDULUM "x^2 + y^2 = 1; "
        "der(p) = 1; der(q) = 1; der(r) = 1; w = p + q; end M;";
    static const struct {
        const char *name;
        dae_start_role role;
    } role[] = { { "x", DAE_START_NEAR },    { "v", DAE_START_NEAR }, { "F", DAE_START_GUESS },
                 { "p", DAE_START_FIXED },   { "q", DAE_START_HELD }, { "r", DAE_START_DEFAULT },
                 { "w", DAE_START_COMPUTED } };
    dae_model *m = load(text);
    free(begin(m, &status));
    assert_int_equal(status, DAE_OK);
    assert_int_equal(dae_model_get_initial(m, &found), DAE_OK);
    for (size_t i = 0; i < sizeof role / sizeof *role; i++)
        assert_int_equal(value_named(&found, role[i].name)->role, role[i].role);
    expect_near(value_named(&found, "x")->start, 0.6, 0);
    expect_near(value_named(&found, "x")->value, 0.6 / sqrt(0.85), 1e-12);
    assert_true(isnan(value_named(&found, "w")->start));
    assert_true(value_named(&found, "w")->value == 7);
    assert_int_equal(found.constraints, 3);
    assert_int_equal(found.conflicts, 0);
    const double before[] = { 0.85 - 1, 2 * (0.6 - 0.7), 0 };
    for (int k = 0; k < 3; k++) {
        assert_int_equal(found.constraint[k].derivative, k);
        assert_true(fabs(found.constraint[k].after) < 1e-11);
        if (k < 2) expect_near(found.constraint[k].before, before[k], 1e-12);
        assert_non_null(strstr(found.constraint[k].place, "test.mo:1:"));
    }
    dae_model_close(m);
}

/* Two contradictions: the first is named, and that there is another one. */
static void test_two_contradictions(void **state)
{
    (void)state;
    dae_status status;
    dae_initial found;
    dae_model *m = load("model M Real a(start = 1, fixed = true), b(start = 2, fixed = true), "
                        "c(start = 4, fixed = true), s, d; equation der(a) = -a; der(b) = -b; "
                        "der(c) = -c; s = a + b; d = b + c; initial equation s = 5; d = 9; end M;");
    free(begin(m, &status));
    assert_int_equal(status, DAE_E_INCONSISTENT);
    dae_model_get_initial(m, &found);
    assert_int_equal(found.conflicts, 4);
    assert_non_null(strstr(dae_model_messages(m), "more contradictions remain"));
    dae_model_close(m);
}

/* Of several contradictions the smallest is named, whichever was met first. */
static void test_smallest_contradiction(void **state)
{
    (void)state;
    static const struct {
        const char *text, *member[2];
    } cases[] = {
        { "model M Real x, y, z, w; initial equation x + y + z + w = 10; x = 1; y = 2; z = 3; w = "
          "5; "
          "x = 2; equation der(x) = 1; der(y) = 1; der(z) = 1; der(w) = 1; end M;",
          { "'x = 1'", "'x = 2'" } },
        { "model M Real x, y, z; initial equation x*y*z = 6; x = 1; y = 2; z = 4; y*z = 8; "
          "y^2 = -1; equation der(x) = 1; der(y) = 1; der(z) = 1; end M;",
          { "'y^2 = -1'", NULL } },
        { "model M Real x(start = 0.6, fixed = true), y(start = 0.8, fixed = true), u, v, F, w; "
          "initial equation u = 1; v = 1; w = 3; u = 2; equation der(x) = u; der(y) = v; "
          "der(u) = -F*x; der(v) = -F*y - 9.81; x^2 + y^2 = 1; der(w) = -w; end M;",
          { "'u = 1'", "'u = 2'" } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dae_status status;
        dae_initial found;
        dae_model *m = load(cases[i].text);
        free(begin(m, &status));
        assert_int_equal(status, DAE_E_INCONSISTENT);
        dae_model_get_initial(m, &found);
        assert_int_equal(found.conflicts, cases[i].member[1] ? 2 : 1);
        for (size_t k = 0; k < found.conflicts; k++) {
            if (!strstr(found.conflict[k], cases[i].member[k]))
                print_error("%s\n", found.conflict[k]);
            assert_non_null(strstr(found.conflict[k], cases[i].member[k]));
        }
        dae_model_close(m);
    }
}

/* On an ellipse x = 2 cos s, y = sin s, with any weights: against a search over s, grid and golden
 * section. */
static double off_ellipse(double s, const double *q, const double *size)
{
    double a = (2 * cos(s) - q[0]) / size[0], b = (sin(s) - q[1]) / size[1];
    return a * a + b * b;
}

static double nearest_on_ellipse(const double *q, const double *size)
{
    double best = 0, step = 1e-3, shrink = 0.6180339887498949;
    for (double s = 0; s < 6.3; s += step)
        if (off_ellipse(s, q, size) < off_ellipse(best, q, size)) best = s;
    double a = best - step, b = best + step;
    while (b - a > 1e-9) {
        double c = b - shrink * (b - a), d = a + shrink * (b - a);
        if (off_ellipse(c, q, size) < off_ellipse(d, q, size))
            b = d;
        else
            a = c;
    }
    return (a + b) / 2;
}

static void test_against_a_search(void **state)
{
    (void)state;
    static const double guess[][2] = {
        { 1, 1 }, { 3, 0.5 }, { -1.5, 0.2 }, { 0.3, -2 }, { 2.5, 2.5 }
    };
    static const double size[][2] = { { 1, 1 }, { 1, 3 }, { 5, 1 } };
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++) {
            char text[500];
            dae_status status;
            snprintf(text, sizeof text,
                     "model M Real x(start = %g, nominal = %g), y(start = %g, nominal = %g), u, "
                     "v, F; "
                     "equation " PENDULUM "x^2/4 + y^2 = 1; end M;",
                     guess[i][0], size[k][0], guess[i][1], size[k][1]);
            dae_model *m = load(text);
            double *value = begin(m, &status), s = nearest_on_ellipse(guess[i], size[k]);
            assert_int_equal(status, DAE_OK);
            expect_near(value[dae_model_find(m, "x")], 2 * cos(s), 1e-6);
            expect_near(value[dae_model_find(m, "y")], sin(s), 1e-6);
            free(value);
            dae_model_close(m);
        }
}

/* After an event the states stay and a nonlinear loop finds its other solution: y^3 + y = 2 becomes
 * y^3 + y = 10; and where there is none the nearest approach is named. */
static void test_after_an_event(void **state)
{
    (void)state;
    double x[4] = { 0 }, p[4] = { 0 }, value[8] = { 0 };
    dae_model *m = load("model M Real x(start = 0.5, fixed = true), y(start = 1); equation "
                        "der(x) = 1; y^3 + y = if x > 1 then 10 else 2; end M;");
    assert_int_equal(dae_model_initialize(m, 0, x, p), DAE_OK);
    int at = !strcmp(dae_model_problem(m)->names[0], "x") ? 0 : 1;
    x[at] = 1.25;
    assert_int_equal(dae_model_event(m, 0.75, x, p), DAE_OK);
    assert_int_equal(dae_model_values(m, 0.75, x, p, value), DAE_OK);
    assert_true(value[dae_model_find(m, "x")] == 1.25);
    expect_near(value[dae_model_find(m, "y")], 2, 1e-10);
    dae_model_close(m);
    m = load("model M Real x(start = 0.5, fixed = true), y(start = 1); equation "
             "der(x) = 1; y^2 + y = if x > 1 then -3 else 2; end M;");
    assert_int_equal(dae_model_initialize(m, 0, x, p), DAE_OK);
    at = !strcmp(dae_model_problem(m)->names[0], "x") ? 0 : 1;
    x[at] = 1.25;
    assert_int_equal(dae_model_event(m, 0.75, x, p), DAE_E_INCONSISTENT);
    assert_non_null(strstr(dae_model_messages(m), "differ by 2.75, at y = -0.5"));
    dae_model_close(m);
}

/* One allocation after another refused: a failure in words or a result, and nothing is lost. */
static void refuse_each(const char *text, dae_status usual, long step)
{
    for (long k = 1;; k += step) {
        ledger l;
        dae_initial found;
        dae_status status = DAE_E_NOMEM;
        ledger_open(&l);
        ledger_fail(&l, k, 0);
        dae_model *m = dae_model_load_text("test.mo", text, strlen(text),
                                           &(dae_model_options){ .allocator = &l.hook });
        double x[16], p[16];
        if (dae_model_status(m) == DAE_OK) status = dae_model_initialize(m, 0, x, p);
        if (status == usual) dae_model_get_initial(m, &found);
        bool was = l.refused > 0;
        assert_true(status == usual || (was && status < 0));
        dae_model_close(m);
        assert_int_equal(l.live, 0);
        if (!was) return;
    }
}

static void test_every_allocation_refused(void **state)
{
    (void)state;
    refuse_each(nearest[0].text, DAE_OK, 1);
    refuse_each(open_cases[2].text, DAE_OK, 1);
    refuse_each(contradictory[1].text, DAE_E_INCONSISTENT, 1);
    refuse_each(none[0].text, DAE_E_INCONSISTENT, 1);
}

/* A pendulum on its side cannot move sideways: y^2 = 0 leaves y = 1e-8 to rounding, and 1e8 for v. What is
 * fixed and contradicts the circle is named nevertheless. */
static void test_double_root(void **state)
{
    (void)state;
    static const double length[] = { 1, 0.3, 5 };
    for (int k = 0; k < 6; k++) {
        double l = length[k % 3];
        char text[500];
        snprintf(
            text, sizeof text,
            "model M Real x(start = %.15g, fixed = true), y(start = 0), u(start = %g, fixed = "
            "true);\n"
            "Real v, F; equation der(x) = u; der(y) = v; der(u) = -F*x; der(v) = -F*y - 9.81;\n"
            "x^2 + y^2 = %.15g; end M;",
            k < 3 ? l : -l, k % 2 ? 1.0 : -2.0, l * l);
        dae_model *m = dae_model_load_text("m.mo", text, strlen(text), NULL);
        dae_initial found;
        dae_simulation only = { .start_only = 1 };
        assert_int_equal(dae_model_simulate(m, &only, NULL, NULL), DAE_E_INCONSISTENT);
        dae_model_get_initial(m, &found);
        bool position = false, speed = false, circle = false;
        for (size_t i = 0; i < found.conflicts; i++) {
            position |= strstr(found.conflict[i], "'x = ") != NULL;
            speed |= strstr(found.conflict[i], "'u = ") != NULL;
            circle |= strstr(found.conflict[i], "x^2 + y^2") != NULL;
        }
        if (!position || !speed || !circle) print_message("%s\n%s\n", text, dae_model_messages(m));
        assert_true(position && speed && circle);
        dae_model_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_poor_guesses),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_no_solution),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_after_an_event),
        cmocka_unit_test(test_against_a_search),
        cmocka_unit_test(test_two_contradictions),
        cmocka_unit_test(test_smallest_contradiction),
        cmocka_unit_test(test_double_root),
        cmocka_unit_test(test_every_allocation_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
