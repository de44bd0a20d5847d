/* pendulum.c: the mathematical pendulum in Cartesian coordinates, index 3 down to 0.
 *
 *     p' = v,   m v' = -m g e_y - 2 p lambda,   and one of
 *     index 3   0 = p.p - l^2
 *     index 2   0 = p.v
 *     index 1   0 = v.v - g p_y - 2 (p.p) lambda / m     (second derivative / 2, exactly:
 *               with p.p, not l^2, the drift off p.p = l^2 grows like t^2 and no faster)
 *     index 0   lambda' = -3 m g v_y / (2 l^2)           (uses p.v = 0 and p.p = l^2)
 * Gear-Gupta-Leimkuhler: p' = v - 2 p mu, both p.p = l^2 and p.v = 0; mu = 0 along
 * solutions.
 *
 * Exact solution when let go at rest at an angle A from the downward vertical (Jacobi
 * functions of modulus k = sin(A/2), argument u = t sqrt(g/l)):
 *     sin(phi/2) = k cd u,  cos(phi/2) = k1 nd u,  phi' = -2 k k1 sqrt(g/l) sd u,
 * where k1 = cos(A/2), and p = l (sin phi, -cos phi).
 */
#include "support.h"

static const double pi = 3.14159265358979323846;

typedef struct state {
    double g, l, m;
    double angle; /* radians */
    double x0[6], xdot0[6];
} state;

enum { px, py, vx, vy, la, mu };

/* Rows 0..3 of every form; the constraint's row is added by the form. */
static void motion(const state *s, const double *x, const double *xdot, double *r)
{
    r[0] = xdot[px] - x[vx];
    r[1] = xdot[py] - x[vy];
    r[2] = xdot[vx] + 2 * x[px] * x[la] / s->m;
    r[3] = xdot[vy] + s->g + 2 * x[py] * x[la] / s->m;
}

static void motion_x(const state *s, const double *x, int n, double *K)
{
    K[0 + vx * n] = -1;
    K[1 + vy * n] = -1;
    K[2 + px * n] = K[3 + py * n] = 2 * x[la] / s->m;
    K[2 + la * n] = 2 * x[px] / s->m;
    K[3 + la * n] = 2 * x[py] / s->m;
}

static double position(const state *s, const double *x)
{
    return x[px] * x[px] + x[py] * x[py] - s->l * s->l;
}

static double velocity(const double *x)
{
    return x[px] * x[vx] + x[py] * x[vy];
}

static double acceleration(const state *s, const double *x)
{
    double pp = x[px] * x[px] + x[py] * x[py], vv = x[vx] * x[vx] + x[vy] * x[vy];
    return vv - s->g * x[py] - 2 * pp * x[la] / s->m;
}

static void position_x(const double *x, int i, int n, double *K)
{
    K[i + px * n] = 2 * x[px];
    K[i + py * n] = 2 * x[py];
}

static void velocity_x(const double *x, int i, int n, double *K)
{
    K[i + px * n] = x[vx];
    K[i + py * n] = x[vy];
    K[i + vx * n] = x[px];
    K[i + vy * n] = x[py];
}

static int residual3(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t;
    motion(user, x, xdot, r);
    r[4] = position(user, x);
    return DAE_OK;
}

static int jacobian3(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)xdot;
    motion_x(user, x, 5, K);
    position_x(x, 4, 5, K);
    return DAE_OK;
}

static int residual2(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t;
    motion(user, x, xdot, r);
    r[4] = velocity(x);
    return DAE_OK;
}

static int jacobian2(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)xdot;
    motion_x(user, x, 5, K);
    velocity_x(x, 4, 5, K);
    return DAE_OK;
}

/* M x' = g with M = diag(1, 1, 1, 1, 0): g is minus the residual at rest. */
static const double at_rest[5] = { 0 }, mass[5] = { 1, 1, 1, 1, 0 };

static int rhs3(double t, const double *x, double *f, void *user)
{
    residual3(t, x, at_rest, f, user);
    negate(f, 5);
    return DAE_OK;
}

static int rhs3_x(double t, const double *x, const double *xdot, double *J, void *user)
{
    jacobian3(t, x, xdot, J, user);
    negate(J, 25);
    return DAE_OK;
}

static int rhs2(double t, const double *x, double *f, void *user)
{
    residual2(t, x, at_rest, f, user);
    negate(f, 5);
    return DAE_OK;
}

static int rhs2_x(double t, const double *x, const double *xdot, double *J, void *user)
{
    jacobian2(t, x, xdot, J, user);
    negate(J, 25);
    return DAE_OK;
}

static int residual1(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t;
    motion(user, x, xdot, r);
    r[4] = acceleration(user, x);
    return DAE_OK;
}

static int jacobian1(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)xdot;
    const state *s = user;
    motion_x(s, x, 5, K);
    K[4 + px * 5] = -4 * x[px] * x[la] / s->m;
    K[4 + py * 5] = -4 * x[py] * x[la] / s->m - s->g;
    K[4 + vx * 5] = 2 * x[vx];
    K[4 + vy * 5] = 2 * x[vy];
    K[4 + la * 5] = -2 * (x[px] * x[px] + x[py] * x[py]) / s->m;
    return DAE_OK;
}

static int residual0(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t;
    const state *s = user;
    motion(s, x, xdot, r);
    r[4] = xdot[la] + 1.5 * s->m * s->g * x[vy] / (s->l * s->l);
    return DAE_OK;
}

static int jacobian0(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)xdot;
    const state *s = user;
    motion_x(s, x, 5, K);
    K[4 + vy * 5] = 1.5 * s->m * s->g / (s->l * s->l);
    return DAE_OK;
}

static int residual_ggl(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t;
    motion(user, x, xdot, r);
    r[0] += 2 * x[px] * x[mu];
    r[1] += 2 * x[py] * x[mu];
    r[4] = position(user, x);
    r[5] = velocity(x);
    return DAE_OK;
}

static int jacobian_ggl(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)xdot;
    motion_x(user, x, 6, K);
    K[0 + px * 6] = K[1 + py * 6] = 2 * x[mu];
    K[0 + mu * 6] = 2 * x[px];
    K[1 + mu * 6] = 2 * x[py];
    position_x(x, 4, 6, K);
    velocity_x(x, 5, 6, K);
    return DAE_OK;
}

/* C = diag(1, 1, 1, 1, 0 ...): one for the sizes 5 and 6 each, and the identity. */
static int jacobian_dot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    for (int i = 0; i < 4; i++) C[i + i * 5] = 1;
    return DAE_OK;
}

static int jacobian_dot_ggl(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    for (int i = 0; i < 4; i++) C[i + i * 6] = 1;
    return DAE_OK;
}

static int jacobian_dot_0(double t, const double *x, const double *xdot, double *C, void *user)
{
    jacobian_dot(t, x, xdot, C, user);
    C[la + la * 5] = 1;
    return DAE_OK;
}

/* sn, cn, dn of u for modulus k < 1: arithmetic-geometric mean upwards, descending Landen
 * transformation of the amplitude downwards (Abramowitz & Stegun 16.4). */
static void jacobi(double u, double k, double *sn, double *cn, double *dn)
{
    enum { most = 12 };
    double a[most + 1], c[most + 1], b = sqrt((1 - k) * (1 + k)), scale = 1;
    int steps = 0;
    a[0] = 1;
    c[0] = k;
    while (steps < most && fabs(c[steps]) > 1e-17 * a[steps]) {
        double root = sqrt(a[steps] * b);
        a[steps + 1] = (a[steps] + b) / 2;
        c[steps + 1] = (a[steps] - b) / 2;
        b = root;
        scale *= 2;
        steps++;
    }
    double amplitude = scale * a[steps] * u;
    for (int i = steps; i > 0; i--)
        amplitude = (amplitude + asin(c[i] / a[i] * sin(amplitude))) / 2;
    *sn = sin(amplitude);
    *cn = cos(amplitude);
    *dn = sqrt(1 - k * k * *sn * *sn);
}

/* Five values; a sixth, mu = 0, is there in the Gear-Gupta-Leimkuhler form. */
static int exact(double t, double *x, void *user)
{
    const state *s = user;
    double k = sin(s->angle / 2), k1 = cos(s->angle / 2), w = sqrt(s->g / s->l);
    double sn, cn, dn;
    jacobi(w * t, fabs(k), &sn, &cn, &dn);
    double sin_half = k * cn / dn, cos_half = k1 / dn;
    double sine = 2 * sin_half * cos_half;
    double cosine = (cos_half - sin_half) * (cos_half + sin_half);
    double rate = -2 * k * k1 * w * sn / dn;
    x[px] = s->l * sine;
    x[py] = -s->l * cosine;
    x[vx] = s->l * rate * cosine;
    x[vy] = s->l * rate * sine;
    x[la] = s->m * (rate * rate * s->l + s->g * cosine) / (2 * s->l);
    return DAE_OK;
}

static int exact_ggl(double t, double *x, void *user)
{
    x[mu] = 0;
    return exact(t, x, user);
}

static const char *const constraint_names[] = { "position p.p - l^2", "velocity p.v",
                                                "acceleration v.v - g p_y - 2 p.p lambda/m",
                                                "energy, change since the start" };

static int constraints(double t, const double *x, double *c, void *user)
{
    (void)t;
    const state *s = user;
    const double *y = s->x0;
    double kinetic = x[vx] * x[vx] + x[vy] * x[vy] - y[vx] * y[vx] - y[vy] * y[vy];
    c[0] = position(s, x);
    c[1] = velocity(x);
    c[2] = acceleration(s, x);
    c[3] = s->m * (kinetic / 2 + s->g * (x[py] - y[py]));
    return DAE_OK;
}

/* sin and cos of degrees, without rounding at the multiples of 90. */
static double sin_degrees(double a)
{
    double r = remainder(a, 360);
    if (fabs(r) > 90) r = copysign(180, r) - r;
    return fabs(r) == 90 ? copysign(1, r) : sin(r * pi / 180);
}

static void start_values(state *s, double angle, double speed)
{
    double sine = sin_degrees(angle), cosine = sin_degrees(angle + 90), *x = s->x0;
    x[px] = s->l * sine;
    x[py] = -s->l * cosine;
    x[vx] = s->l * speed * cosine;
    x[vy] = s->l * speed * sine;
    x[la] = s->m * (speed * speed * s->l + s->g * cosine) / (2 * s->l);
    s->xdot0[px] = x[vx];
    s->xdot0[py] = x[vy];
    s->xdot0[vx] = -2 * x[px] * x[la] / s->m;
    s->xdot0[vy] = -2 * x[py] * x[la] / s->m - s->g;
    s->xdot0[la] = -1.5 * s->m * s->g * x[vy] / (s->l * s->l);
}

static const char *const names[] = { "px", "py", "vx", "vy", "lambda", "mu" };

typedef struct variant {
    const char *form;
    int n, index;
    int (*residual)(double, const double *, const double *, double *, void *);
    int (*jacobian_x)(double, const double *, const double *, double *, void *);
    int (*jacobian_xdot)(double, const double *, const double *, double *, void *);
    unsigned char level[6];
    const char *equations[6];
    int (*rhs)(double, const double *, double *, void *); /* instead of residual */
} variant;

#define MOTION "px' = vx", "py' = vy", "force in x", "force in y"
/* clang-format off */
static const variant variants[] = {
    { "index3", 5, 3, residual3, jacobian3, jacobian_dot,
      { 0, 0, DAE_INDEX2, DAE_INDEX2, DAE_INDEX3 }, { MOTION, "length" }, NULL },
    { "index2", 5, 2, residual2, jacobian2, jacobian_dot,
      { 0, 0, 0, 0, DAE_INDEX2 }, { MOTION, "p.v = 0" }, NULL },
    { "index1", 5, 1, residual1, jacobian1, jacobian_dot,
      { 0, 0, 0, 0, DAE_ALGEBRAIC }, { MOTION, "acceleration" }, NULL },
    { "index0", 5, 0, residual0, jacobian0, jacobian_dot_0,
      { 0, 0, 0, 0, 0 }, { MOTION, "lambda'" }, NULL },
    { "gear-gupta-leimkuhler", 6, 2, residual_ggl, jacobian_ggl, jacobian_dot_ggl,
      { 0, 0, 0, 0, DAE_INDEX2, DAE_INDEX2 }, { MOTION, "length", "p.v = 0" }, NULL },
    { "index3-mass", 5, 3, NULL, rhs3_x, NULL,
      { 0, 0, DAE_INDEX2, DAE_INDEX2, DAE_INDEX3 }, { MOTION, "length" }, rhs3 },
    { "index2-mass", 5, 2, NULL, rhs2_x, NULL,
      { 0, 0, 0, 0, DAE_INDEX2 }, { MOTION, "p.v = 0" }, rhs2 },
};
/* clang-format on */
static const char *const forms[] = {
    "index3",      "index2",      "index1", "index0", "gear-gupta-leimkuhler",
    "index3-mass", "index2-mass", NULL
};

/* Angle equation phi'' = -g sin phi, phi(0) = pi/2, at t = 1: Taylor series of order
 * 60 in arithmetic of 50 digits. */
static const double reference[6] = {
    -0.986291751131875319355639, -0.1650108531255411687524991, -0.2969055159163158215577797,
    1.774643641112655626467597,  2.428134703742338298193024,   0,
};

static void pick(const variant *v, problem_instance *out)
{
    dae_problem *p = &out->problem;
    p->size = v->n;
    p->residual = v->residual;
    p->rhs = v->rhs;
    p->mass_kind = v->rhs ? DAE_MASS_DIAGONAL : p->mass_kind;
    p->mass_values = v->rhs ? mass : NULL;
    p->jacobian_x = v->jacobian_x;
    p->jacobian_xdot = v->jacobian_xdot;
    p->pattern = dense_pattern();
    p->level = v->level;
    p->names = names;
    p->equation_names = v->equations;
    out->index = v->index;
}

static int build(const char *form, const double *value, problem_instance *out)
{
    double g = value[0], l = value[1], m = value[2], angle = value[3], speed = value[4];
    for (int k = 0; k < 3; k++)
        if (!(value[k] > 0)) return bad_setting(k);
    if (!(fabs(angle) <= 180)) return bad_setting(3);
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    *s = (state){ .g = g, .l = l, .m = m, .angle = angle * pi / 180 };
    start_values(s, angle, speed);
    for (int i = 0; i < COUNT(variants); i++)
        if (strcmp(variants[i].form, form) == 0) pick(&variants[i], out);
    out->t1 = 1;
    out->x0 = s->x0;
    out->xdot0 = s->xdot0;
    out->atol_over_rtol = 1;
    if (speed == 0 && fabs(angle) < 180) {
        out->exact = out->problem.size == 6 ? exact_ggl : exact;
        out->reference_source = "exact solution (Jacobi elliptic functions)";
    }
    if (g == 9.81 && l == 1 && m == 1 && angle == 90 && speed == 0) {
        out->reference = reference;
        out->reference_source = "angle equation, Taylor series of order 60, 50 digits";
    }
    out->constraint_count = COUNT(constraint_names);
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const problem_setting settings[] = {
    { "g", 9.81, "acceleration of gravity" },
    { "length", 1, "length l" },
    { "mass", 1, "mass m" },
    { "angle", 90, "initial angle in degrees from the downward vertical, -180 to 180" },
    { "speed", 0, "initial angular velocity in radians per unit of time" },
    { NULL, 0, NULL },
};

const problem_entry problem_pendulum = {
    .name = "pendulum",
    .title = "the pendulum in Cartesian coordinates, in index 3, 2, 1, 0 and "
             "stabilized",
    .description = "p' = v, m v' = -m g e_y - 2 p lambda with p.p = l^2 (index 3), or p.v = 0 "
                   "(index 2), or v.v - g p_y - 2 (p.p) lambda/m = 0 (index 1), or lambda' = -3 m "
                   "g v_y/(2 l^2) (index 0). The reduced forms drift off the length; the index-3 "
                   "form needs error weights that know its index; the form gear-gupta-leimkuhler "
                   "keeps both constraints with a second multiplier, p' = v - 2 p mu; index3-mass "
                   "and index2-mass are M x' = g(x). Let go horizontally at rest.",
    .source = "Eich-Soellner & Fuehrer 1998, p. 150; Hairer & Wanner 1996, VII.1; Gear, "
              "Leimkuhler, Gupta 1985",
    .forms = forms,
    .settings = settings,
    .build = build,
};
