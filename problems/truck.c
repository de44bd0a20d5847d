/* truck.c: a truck in its vertical plane: five bodies on springs and dampers, and a road.
 *
 *       [ load 5        ]          rear wheel 1 and front wheel 3 move up and down, chassis 2
 *       o----/----------    [4]    and cabin 4 also turn, the load 5 is free; it hangs at its back
 *     [ chassis 2            ]     in a joint o: two constraints, nine coordinates,
 *      |            |                q = (z1, z2, phi2, z3, z4, phi4, x5, z5, phi5).
 *     (1)          (3)             x is counted from the chassis, which keeps its place.
 *     road u1(t)   road u3(t)
 *
 * A spring with damper pulls its two ends P, R towards each other with f = k l + d l' + f_N,
 * l = |R - P|; f_N is such that the truck stands still on a flat road, where the run begins. On q
 * it acts by virtual work: f e . (P_q - R_q), e = (R - P) / l. pneumatic = 1 puts an air spring
 * between front wheel and chassis,
 *
 *     f = (F + p A) ((1 + s l_0) / (1 + s l))^kappa - p A + d l',   F = k l_0 + f_N,
 *
 * whose slope at l_0 is that of the linear one, k, to four digits. The road is a hump of
 * 12 cm, 1e-3 tau^6 exp(-tau), tau seconds after it has reached the wheel.
 */
#include "mechanical.h"

enum { z1, z2, phi2, z3, z4, phi4, x5, z5, phi5, n, m = 2, NONE = -1 };
enum { REAR_ROAD, REAR_WHEEL, CHASSIS, FRONT_WHEEL, FRONT_ROAD, CABIN, LOAD, BODIES };

static const double gravity = 9.81, speed = 15;
static const double mass[n] = { 1450, 3335, 14313, 600, 1100, 948, 11515, 11515, 33000 };
static const double rear = -2.06, front = 2.44; /* the wheels */

/* The joint, on the chassis and on the load. */
static const double on_chassis[2] = { -3.07, 0.15 }, on_load[2] = { -1.61, -0.75 };

typedef struct body {
    int x, z, phi; /* numbers of its coordinates, or NONE */
    double at;     /* its x, if that is none */
} body;

static const body bodies[BODIES] = {
    [REAR_ROAD] = { NONE, NONE, NONE, -2.06 },
    [REAR_WHEEL] = { NONE, z1, NONE, -2.06 },
    [CHASSIS] = { NONE, z2, phi2, 0 },
    [FRONT_WHEEL] = { NONE, z3, NONE, 2.44 },
    [FRONT_ROAD] = { NONE, NONE, NONE, 2.44 },
    [CABIN] = { NONE, z4, phi4, 2.74 },
    [LOAD] = { x5, z5, phi5, 0 },
};

typedef struct spring {
    int from, to;
    double a, ha, b, hb; /* its ends, each on its body */
    double k, d, nominal;
} spring;

static const spring springs[] = {
    { REAR_ROAD, REAR_WHEEL, 0, 0, 0, 0, 44e5, 600, -2.329145162e6 },
    { REAR_WHEEL, CHASSIS, 0, 0, -2.06, -1.34, 8.247e5, 21593, -0.246872662e6 },
    { FRONT_ROAD, FRONT_WHEEL, 0, 0, 0, 0, 22e5, 300, -1.147434838e6 },
    { FRONT_WHEEL, CHASSIS, 0, 0, 2.44, -1.34, 2.711e5, 38537, -0.084924838e6 },
    { CHASSIS, CABIN, 1.94, 0, -0.8, 0, 1.357e5, 12218, -0.12784288235294e6 },
    { CHASSIS, CABIN, 3.64, 0, 0.9, 0, 1.357e5, 12218, -0.12720811764706e6 },
    { CHASSIS, LOAD, 0.98, 0, 2.44, 0, 9e5, 38500, -0.85490594111111e6 },
};

typedef struct state {
    mechanical_base base;
    int pneumatic;
} state;

/* Height of the road tau after it has begun to rise, and how fast it changes. */
static double hump(double tau, double *rate)
{
    double u = tau > 0 ? 1e-3 * pow(tau, 6) * exp(-tau) : 0;
    *rate = tau > 0 ? u * (6 / tau - 1) : 0;
    return u;
}

/* A point of a body: position, velocity, and the derivative of the position by the angle. */
typedef struct point {
    double r[2], v[2], turn[2];
} point;

static point point_of(int which, double a, double h, double t, const double *q, const double *v)
{
    const body *b = &bodies[which];
    double angle = b->phi == NONE ? 0 : q[b->phi], spin = b->phi == NONE ? 0 : v[b->phi];
    double c = cos(angle), s = sin(angle), delay = 2 / speed, rate = 0, z;
    if (which == REAR_ROAD) delay += (front - rear) / speed;
    if (b->z == NONE)
        z = hump(t - delay, &rate);
    else
        z = q[b->z], rate = v[b->z];
    point p = { .turn = { -s * a - c * h, c * a - s * h } };
    p.r[0] = (b->x == NONE ? b->at : q[b->x]) + c * a - s * h;
    p.r[1] = z + s * a + c * h;
    p.v[0] = (b->x == NONE ? 0 : v[b->x]) + spin * p.turn[0];
    p.v[1] = rate + spin * p.turn[1];
    return p;
}

/* The force (fx, fy) in a point of a body, on the coordinates. */
static void act(int which, const point *p, double fx, double fy, double *f)
{
    const body *b = &bodies[which];
    if (b->x != NONE) f[b->x] += fx;
    if (b->z != NONE) f[b->z] += fy;
    if (b->phi != NONE) f[b->phi] += p->turn[0] * fx + p->turn[1] * fy;
}

static double air(double nominal, double l)
{
    const double kappa = 1.4, s = 39.13228, l0 = 0.16, pA = 1e5 * 0.0562;
    return (nominal + pA) * pow((1 + s * l0) / (1 + s * l), kappa) - pA;
}

static int force(double t, const double *q, const double *v, double *f, void *user)
{
    const state *st = user;
    memset(f, 0, n * sizeof *f);
    for (int i = 0; i < COUNT(springs); i++) {
        const spring *s = &springs[i];
        point p = point_of(s->from, s->a, s->ha, t, q, v);
        point r = point_of(s->to, s->b, s->hb, t, q, v);
        double dx = r.r[0] - p.r[0], dy = r.r[1] - p.r[1], l = sqrt(dx * dx + dy * dy);
        double rate = (dx * (r.v[0] - p.v[0]) + dy * (r.v[1] - p.v[1])) / l;
        double pull = s->k * l + s->nominal;
        if (st->pneumatic && s->from == FRONT_WHEEL) pull = air(s->k * 0.16 + s->nominal, l);
        pull = (pull + s->d * rate) / l;
        act(s->from, &p, pull * dx, pull * dy, f);
        act(s->to, &r, -pull * dx, -pull * dy, f);
    }
    static const int weights[] = { z1, z2, z3, z4, z5 };
    for (int i = 0; i < COUNT(weights); i++) f[weights[i]] -= mass[weights[i]] * gravity;
    return DAE_OK;
}

static const double rest[n];

static int constraint(double t, const double *q, double *phi, void *user)
{
    point p = point_of(CHASSIS, on_chassis[0], on_chassis[1], t, q, rest);
    point r = point_of(LOAD, on_load[0], on_load[1], t, q, rest);
    (void)user;
    phi[0] = r.r[0] - p.r[0];
    phi[1] = r.r[1] - p.r[1];
    return DAE_OK;
}

static int constraint_q(double t, const double *q, double *G, void *user)
{
    point p = point_of(CHASSIS, on_chassis[0], on_chassis[1], t, q, rest);
    point r = point_of(LOAD, on_load[0], on_load[1], t, q, rest);
    (void)user;
    G[0 + x5 * m] = G[1 + z5 * m] = 1;
    G[1 + z2 * m] = -1;
    for (int i = 0; i < m; i++) {
        G[i + phi2 * m] = -p.turn[i];
        G[i + phi5 * m] = r.turn[i];
    }
    return DAE_OK;
}

/* A turning point accelerates towards the origin of its body. */
static int constraint_bias(double t, const double *q, const double *v, double *bias, void *user)
{
    point p = point_of(CHASSIS, on_chassis[0], on_chassis[1], t, q, rest);
    point r = point_of(LOAD, on_load[0], on_load[1], t, q, rest);
    double w2 = v[phi2] * v[phi2], w5 = v[phi5] * v[phi5];
    (void)user;
    bias[0] = p.r[0] * w2 - (r.r[0] - q[x5]) * w5;
    bias[1] = (p.r[1] - q[z2]) * w2 - (r.r[1] - q[z5]) * w5;
    return DAE_OK;
}

static const double q0[n] = { 0.5, 2, 0, 0.5, 2.9, 0, -1.46, 2.9, 0 };
/* At rtol 1e-13, ggl, index1 and maggi-qr by radau, and index0 by bim and adams agree to 1e-12. */
static const double end[2 * n + m] = {
    0.553994176220059,  2.049168523049412,  -0.003112567402507, 0.547199151947050,
    2.940619120586883,  -0.003112700785235, -1.457173854206910, 2.953670050444100,
    -0.003136417304975, -0.0200848949812,   -0.0191320431934,   0.00062482511908,
    -0.0186261906904,   -0.0174214654607,   0.00062694669964,   -0.00056677666555,
    -0.0200390127214,   0.00062700163857,   -144.0060581,       68015.7015468,
};
/* Over which forces change their slope: the shortest springs, 0.16, are on arms of 1.3. */
static const double scale[n] = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 };
static const char *const names[n] = { "rear wheel",  "chassis", "chassis angle",
                                      "front wheel", "cabin",   "cabin angle",
                                      "load x",      "load",    "load angle" };
static const char *const constraint_names[m] = { "joint x", "joint y" };

static int build(const char *form, const double *value, problem_instance *out)
{
    if (!is_whole(value[0], 0, 1)) return bad_setting(0);
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    s->pneumatic = value[0] > 0;
    mechanical_case c = {
        .model = { .coordinates = n,
                   .constraints = m,
                   .mass_diagonal = mass,
                   .force = force,
                   .constraint = constraint,
                   .constraint_q = constraint_q,
                   .constraint_bias = constraint_bias,
                   .steady = 1,
                   .scale = scale,
                   .time_scale = 0.1,
                   .names = names,
                   .constraint_names = constraint_names,
                   .user = s },
        .t1 = 10,
        .q0 = q0,
        .v0 = rest,
        .atol_over_rtol = 1,
    };
    if (!s->pneumatic) {
        c.reference = end;
        c.reference_source = "three formulations and three methods at rtol 1e-13";
    }
    return mechanical_build(&c, form, out);
}

static const problem_setting settings[] = {
    { "pneumatic", 0, "1: an air spring at the front wheel; 0: a linear one" },
    { NULL, 0, NULL },
};

const problem_entry problem_truck = {
    .name = "truck",
    .title = "a truck of five bodies in the vertical plane, its load in a joint, over a hump",
    .description =
        "Wheels, chassis, cabin and load on springs and dampers; nine coordinates, and "
        "the joint "
        "at the back of the load: two constraints. It stands still until its front wheel "
        "comes "
        "to the hump of the road, 12 cm high, and its rear wheel 0.3 s later. The "
        "springs of the "
        "tyres are far stiffer than the others; the joint bears 7e4 N. pneumatic=1: an "
        "air "
        "spring at the front. Moments of forces are by virtual work throughout.",
    .source = "E. Eich-Soellner, C. Fuehrer, Numerical Methods in Multibody Dynamics, 1998, p. "
              "20 "
              "and the book's programs (data); B. Simeon, F. Grupp, C. Fuehrer, P. Rentrop, "
              "J. Comput. Appl. Math. 50 (1994) 523",
    .forms = mechanical_forms,
    .settings = settings,
    .build = build,
};
