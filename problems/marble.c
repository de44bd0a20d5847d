/* marble.c: a homogeneous ball rolling on a plane that is inclined along x and may turn.
 *
 * Coordinates: x, y of the centre and the Euler parameters p = (p0, p1, p2, p3), with
 * |p| = 1 as the only holonomic constraint. The angular velocity in space is omega = 2
 * E(p) p',
 *     E = [ -p1  p0 -p3  p2;  -p2  p3  p0 -p1;  -p3 -p2  p1  p0 ],
 * and the ball does not slip on a plane that turns about the origin with rate Omega:
 *     x' - R omega_y + Omega y = 0,   y' + R omega_x - Omega x = 0:       non-holonomic.
 * Of a ball all axes are principal ones, and |omega|^2 = 4 |p'|^2 where |p| = 1: 2 J
 * |p'|^2 is its energy of rotation there, so the mass matrix is diagonal, (m, m, 4J,
 * 4J, 4J, 4J), and not singular as it is for other bodies in Euler parameters. (What
 * the two energies differ by acts along p and is part of the multiplier of |p| = 1.)
 *
 * Closed solution. With k = J / (m R^2), w = k Omega / (1 + k), a = s / (1 + k), z = x
 * + iy:
 *     z'' = a + i w z',   z' = (z0' - i a / w) exp(i w t) + i a / w.
 * On the level plate the ball runs on circles with 2/7 of the plate's rate, whatever its
 * speed; on an inclined one it does not go down but across, on a cycloid (Earnshaw 1844;
 * Neimark & Fufaev 1972). omega_z is constant; the multipliers are the friction, m z''
 * - m s, and -J |omega|^2. The orientation has no closed form in general: it is given
 * when the plate is at rest and the ball goes straight down without spin, that is,
 * about a fixed axis.
 */
#include "mechanical.h"

enum { N = 6, CONSTRAINTS = 3 };

typedef struct state {
    mechanical_base base;
    double s, R, J, Omega, spin;
    double z0[2], u0[2]; /* position and velocity of the centre at the start */
    double mass[N], q[N], v[N], end[2 * N + CONSTRAINTS];
} state;

static int pull(double t, const double *q, const double *v, double *f, void *user)
{
    const state *p = user;
    (void)t, (void)q, (void)v;
    memset(f, 0, N * sizeof *f);
    f[0] = p->mass[0] * p->s;
    return DAE_OK;
}

static int length(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = (q[2] * q[2] + q[3] * q[3] + q[4] * q[4] + q[5] * q[5] - 1) / 2;
    return DAE_OK;
}

static int length_q(double t, const double *q, double *G, void *user)
{
    (void)t, (void)user;
    for (int j = 2; j < N; j++) G[j] = q[j];
    return DAE_OK;
}

static int roll(double t, const double *q, double *A, double *b, void *user)
{
    const state *s = user;
    const double *p = q + 2;
    const double omega_x[4] = { -p[1], p[0], -p[3], p[2] };
    const double omega_y[4] = { -p[2], p[3], p[0], -p[1] };
    (void)t;
    A[0 + 0 * 2] = A[1 + 1 * 2] = 1;
    for (int j = 0; j < 4; j++) {
        A[0 + (2 + j) * 2] = -2 * s->R * omega_y[j];
        A[1 + (2 + j) * 2] = 2 * s->R * omega_x[j];
    }
    b[0] = s->Omega * q[1];
    b[1] = -s->Omega * q[0];
    return DAE_OK;
}

/* Not constant when the plate turns: it works on the ball. */
static int energy(double t, const double *q, const double *v, double *E, void *user)
{
    const state *p = user;
    (void)t;
    *E = -p->mass[0] * p->s * q[0] - p->base.energy0;
    for (int i = 0; i < N; i++) *E += p->mass[i] * v[i] * v[i] / 2;
    return DAE_OK;
}

/* Centre, its velocity and acceleration at t. */
static void centre(const state *p, double t, double z[2], double u[2], double du[2])
{
    double k = p->J / (p->mass[0] * p->R * p->R), w = k * p->Omega / (1 + k);
    double a = p->s / (1 + k), c = cos(w * t), s = sin(w * t);
    if (w == 0) {
        for (int i = 0; i < 2; i++) {
            du[i] = i ? 0 : a;
            u[i] = p->u0[i] + du[i] * t;
            z[i] = p->z0[i] + p->u0[i] * t + du[i] * t * t / 2;
        }
        return;
    }
    double re = p->u0[0], im = p->u0[1] - a / w; /* z0' - i a / w */
    u[0] = re * c - im * s;
    u[1] = re * s + im * c + a / w;
    du[0] = a - w * u[1];
    du[1] = w * u[0];
    z[0] = p->z0[0] + (re * s + im * (c - 1)) / w;
    z[1] = p->z0[1] + (im * s - re * (c - 1)) / w + a * t / w;
}

static void omega_at(const state *p, const double z[2], const double u[2], double o[3])
{
    o[0] = (p->Omega * z[0] - u[1]) / p->R;
    o[1] = (u[0] + p->Omega * z[1]) / p->R;
    o[2] = p->spin;
}

/* p' = E' omega / 2 */
static void turn(const double *p, const double o[3], double *rate)
{
    rate[0] = (-p[1] * o[0] - p[2] * o[1] - p[3] * o[2]) / 2;
    rate[1] = (p[0] * o[0] + p[3] * o[1] - p[2] * o[2]) / 2;
    rate[2] = (-p[3] * o[0] + p[0] * o[1] + p[1] * o[2]) / 2;
    rate[3] = (p[2] * o[0] - p[1] * o[1] + p[0] * o[2]) / 2;
}

static void start(state *p)
{
    double du[2], o[3];
    p->q[2] = 1;
    centre(p, 0, p->q, p->v, du);
    omega_at(p, p->q, p->v, o);
    turn(p->q + 2, o, p->v + 2);
}

static void finish(state *p, double t)
{
    double *q = p->end, *v = q + N, *lambda = v + N, du[2], o[3];
    centre(p, t, q, v, du);
    omega_at(p, q, v, o);
    for (int j = 2; j < N; j++) q[j] = v[j] = NAN;
    if (p->Omega == 0 && p->spin == 0 && p->u0[1] == 0) { /* about the y axis only */
        double half = (q[0] - p->z0[0]) / (2 * p->R);
        const double turned[4] = { cos(half), 0, sin(half), 0 };
        memcpy(q + 2, turned, sizeof turned);
        turn(turned, o, v + 2);
    }
    lambda[0] = -p->J * (o[0] * o[0] + o[1] * o[1] + o[2] * o[2]);
    lambda[1] = p->mass[0] * (du[0] - p->s);
    lambda[2] = p->mass[0] * du[1];
}

static int build(const char *form, const double *value, problem_instance *out)
{
    static const char *const names[N] = { "x", "y", "p0", "p1", "p2", "p3" };
    static const char *const constraints[] = { "length of p", "rolling in x", "rolling in y" };
    if (!(value[1] > 0)) return bad_setting(1);
    state *p = problem_state(out, sizeof *p);
    if (!p) return DAE_E_NOMEM;
    double R = value[1], J = 0.4 * R * R;
    *p = (state){ .s = value[0],
                  .R = R,
                  .J = J,
                  .Omega = value[2],
                  .spin = value[3],
                  .z0 = { 1, 0 },
                  .u0 = { value[4], value[5] },
                  .mass = { 1, 1, 4 * J, 4 * J, 4 * J, 4 * J } };
    start(p);
    finish(p, 2);
    mechanical_case c = { .model = { .coordinates = N,
                                     .constraints = 1,
                                     .rolling = 2,
                                     .mass_diagonal = p->mass,
                                     .force = pull,
                                     .constraint = length,
                                     .constraint_q = length_q,
                                     .roll = roll,
                                     .steady = 1,
                                     .energy = p->Omega == 0 ? energy : NULL,
                                     .names = names,
                                     .constraint_names = constraints,
                                     .user = p },
                          .t1 = 2,
                          .q0 = p->q,
                          .v0 = p->v,
                          .reference = p->end,
                          .reference_source = "closed solution",
                          .atol_over_rtol = 1 };
    return mechanical_build(&c, form, out);
}

static const problem_setting settings[] = {
    { "slope", 2, "acceleration g sin(slope) down the plane" },
    { "radius", 0.5, "radius R; the mass is 1 and J = 2/5 R^2" },
    { "plate", 4, "rate Omega at which the plane turns" },
    { "spin", 1, "omega_z" },
    { "speed", 1, "initial velocity along x" },
    { "across", 0.5, "initial velocity along y" },
    { NULL, 0, NULL },
};

const problem_entry problem_marble = {
    .name = "marble",
    .title = "a ball rolling on an inclined plane that turns: non-holonomic, a cycloid",
    .description = "Six coordinates (Euler parameters), |p| = 1 and two rolling constraints with a "
                   "part "
                   "that depends on the position. On a turning plate the centre runs with 2/7 of "
                   "its rate on circles, and on an inclined one across the slope.",
    .source = "Neimark & Fufaev 1972; Earnshaw 1844",
    .forms = mechanical_forms,
    .settings = settings,
    .build = build,
};
