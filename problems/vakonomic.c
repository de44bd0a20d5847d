/* vakonomic.c: the knife edge with its constraint put into the Lagrangian.
 *
 * The knife edge of rolling.c moves by d'Alembert's principle: the force of the
 * constraint does no work in virtual displacements, M q'' = f + A'lambda. If instead
 * A q' = 0 with a multiplier is added to the Lagrangian and everything is varied, one
 * gets the motion that makes the action stationary among the curves that satisfy the
 * constraint,
 *     (M q' + A'mu)' = f + (mu A q')_q,      A q' = 0,
 * which for a constraint that does not integrate is another one (Kozlov 1983; Lewis &
 * Murray 1995; Bloch 2003, 7.3): blades slide as in rolling.c, optimal control as here.
 * For A = (sin theta, -cos theta, 0) and mass 1:
 *     (x' + mu sin theta)' = s,    (y' - mu cos theta)' = 0,
 *     J theta'' = mu (x' cos theta + y' sin theta).
 * mu is a state: its initial value is free, where d'Alembert's lambda has none. With
 * the momenta a = x' + mu sin theta = a0 + s t, b = y' - mu cos theta = b0 the
 * constraint gives
 *     mu = a sin theta - b cos theta,
 *     x' cos theta + y' sin theta = a cos theta + b sin theta,
 * so the index is 1. The energy (x'^2 + y'^2 + J theta'^2) / 2 - s x is kept.
 *
 * momenta: x, y, theta, a, b, omega, mu in the mass form. leading: x, y, theta, x', y',
 * omega, mu with d = (x, y, theta, x' + mu sin theta, y' - mu cos theta, J omega) under
 * the derivative.
 */
#include "support.h"

enum { X, Y, THETA, A, B, OMEGA, MU, N };

typedef struct state {
    double s, J;
    double x0[N], xdot0[N], energy0;
    double mass[N];
} state;

static int momenta(double t, const double *x, double *f, void *user)
{
    const state *p = user;
    double s = sin(x[THETA]), c = cos(x[THETA]), u = x[A] * c + x[B] * s;
    (void)t;
    f[X] = x[A] - x[MU] * s;
    f[Y] = x[B] + x[MU] * c;
    f[THETA] = x[OMEGA];
    f[A] = p->s;
    f[B] = 0;
    f[OMEGA] = x[MU] * u / p->J;
    f[MU] = x[A] * s - x[B] * c - x[MU]; /* x' sin theta - y' cos theta */
    return DAE_OK;
}

static int momenta_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    const state *p = user;
    double s = sin(x[THETA]), c = cos(x[THETA]), u = x[A] * c + x[B] * s;
    (void)t, (void)xdot;
    K[X + A * N] = K[Y + B * N] = K[THETA + OMEGA * N] = 1;
    K[X + THETA * N] = -x[MU] * c;
    K[X + MU * N] = -s;
    K[Y + THETA * N] = -x[MU] * s;
    K[Y + MU * N] = c;
    K[OMEGA + THETA * N] = x[MU] * (x[B] * c - x[A] * s) / p->J;
    K[OMEGA + A * N] = x[MU] * c / p->J;
    K[OMEGA + B * N] = x[MU] * s / p->J;
    K[OMEGA + MU * N] = u / p->J;
    K[MU + THETA * N] = u;
    K[MU + A * N] = s;
    K[MU + B * N] = -c;
    K[MU + MU * N] = -1;
    return DAE_OK;
}

static int leading(double t, const double *x, const double *dp, double *r, void *user)
{
    const state *p = user;
    double s = sin(x[THETA]), c = cos(x[THETA]);
    (void)t;
    r[X] = dp[X] - x[A];
    r[Y] = dp[Y] - x[B];
    r[THETA] = dp[THETA] - x[OMEGA];
    r[A] = dp[A] - p->s;
    r[B] = dp[B];
    r[OMEGA] = dp[OMEGA] - x[MU] * (x[A] * c + x[B] * s);
    r[MU] = s * x[A] - c * x[B];
    return DAE_OK;
}

static int leading_d(double t, const double *x, double *d, void *user)
{
    const state *p = user;
    (void)t;
    d[X] = x[X];
    d[Y] = x[Y];
    d[THETA] = x[THETA];
    d[A] = x[A] + x[MU] * sin(x[THETA]);
    d[B] = x[B] - x[MU] * cos(x[THETA]);
    d[OMEGA] = p->J * x[OMEGA];
    return DAE_OK;
}

static int leading_x(double t, const double *x, const double *dp, double *K, void *user)
{
    double s = sin(x[THETA]), c = cos(x[THETA]);
    (void)t, (void)dp, (void)user;
    K[X + A * N] = K[Y + B * N] = K[THETA + OMEGA * N] = -1;
    K[OMEGA + THETA * N] = x[MU] * (x[A] * s - x[B] * c);
    K[OMEGA + A * N] = -x[MU] * c;
    K[OMEGA + B * N] = -x[MU] * s;
    K[OMEGA + MU * N] = -x[A] * c - x[B] * s;
    K[MU + THETA * N] = x[A] * c + x[B] * s;
    K[MU + A * N] = s;
    K[MU + B * N] = -c;
    return DAE_OK;
}

static int leading_xdot(double t, const double *x, const double *dp, double *C, void *user)
{
    const state *p = user;
    double s = sin(x[THETA]), c = cos(x[THETA]);
    (void)t, (void)dp;
    C[X + X * N] = C[Y + Y * N] = C[THETA + THETA * N] = C[A + A * N] = C[B + B * N] = 1;
    C[A + THETA * N] = x[MU] * c;
    C[A + MU * N] = s;
    C[B + THETA * N] = x[MU] * s;
    C[B + MU * N] = -c;
    C[OMEGA + OMEGA * N] = p->J;
    return DAE_OK;
}

static double energy(const state *p, const double *x, double vx, double vy)
{
    return (vx * vx + vy * vy + p->J * x[OMEGA] * x[OMEGA]) / 2 - p->s * x[X];
}

static int kept_momenta(double t, const double *x, double *c, void *user)
{
    const state *p = user;
    double f[N];
    momenta(t, x, f, user);
    c[0] = energy(p, x, f[X], f[Y]) - p->energy0;
    c[1] = f[MU];
    return DAE_OK;
}

static int kept_leading(double t, const double *x, double *c, void *user)
{
    const state *p = user;
    (void)t;
    c[0] = energy(p, x, x[A], x[B]) - p->energy0;
    c[1] = sin(x[THETA]) * x[A] - cos(x[THETA]) * x[B];
    return DAE_OK;
}

static int build(const char *form, const double *value, problem_instance *out)
{
    static const char *const names[2][N] = { { "x", "y", "theta", "a", "b", "omega", "mu" },
                                             { "x", "y", "theta", "x'", "y'", "omega", "mu" } };
    static const char *const equations[N] = { "velocity x", "velocity y", "turning",
                                              "momentum x", "momentum y", "momentum theta",
                                              "edge" };
    static const char *const kept[] = { "energy, change since the start", "edge" };
    static const unsigned char level[N] = { 0, 0, 0, 0, 0, 0, 1 };
    if (!(value[1] > 0)) return bad_setting(1);
    state *p = problem_state(out, sizeof *p);
    if (!p) return DAE_E_NOMEM;
    *p = (state){ .s = value[0], .J = value[1], .mass = { 1, 1, 1, 1, 1, 1, 0 } };
    int in_momenta = strcmp(form, "momenta") == 0;
    p->x0[OMEGA] = value[2];
    p->x0[MU] = value[3]; /* theta = 0 and at rest: b = -mu */
    p->x0[B] = in_momenta ? -value[3] : 0;
    p->energy0 = energy(p, p->x0, 0, 0);
    p->xdot0[THETA] = value[2]; /* mu' = 0: a and theta are 0 */
    p->xdot0[A] = p->s;
    out->problem = (dae_problem){ .size = N,
                                  .pattern = dense_pattern(),
                                  .names = names[!in_momenta],
                                  .equation_names = equations,
                                  .user = p };
    if (in_momenta) {
        out->problem.rhs = momenta;
        out->problem.jacobian_x = momenta_x;
        out->problem.mass_kind = DAE_MASS_DIAGONAL;
        out->problem.mass_values = p->mass;
        out->problem.level = level;
    } else {
        out->problem.residual = leading;
        out->problem.jacobian_x = leading_x;
        out->problem.jacobian_xdot = leading_xdot;
        out->problem.d = leading_d;
        out->problem.d_size = 6;
    }
    out->t1 = 3;
    out->x0 = p->x0;
    out->xdot0 = p->xdot0;
    out->index = 1;
    out->atol_over_rtol = 1;
    out->constraint_count = 2;
    out->constraint_names = kept;
    out->constraints = in_momenta ? kept_momenta : kept_leading;
    return DAE_OK;
}

static const char *const forms[] = { "momenta", "leading", NULL };
static const problem_setting settings[] = {
    { "slope", 2, "acceleration g sin(slope) down the plane" },
    { "inertia", 0.25, "moment of inertia; the mass is 1" },
    { "omega", 1.5, "rate at which the blade turns at the start" },
    { "mu", 0, "multiplier at the start: free" },
    { NULL, 0, NULL },
};

const problem_entry problem_knife_edge_vakonomic = {
    .name = "knife-edge-vakonomic",
    .title = "a knife edge whose constraint was put into the Lagrangian: another motion",
    .description =
        "The same data as knife-edge, but the action is made stationary among the curves "
        "that satisfy the constraint. The blade does not turn steadily but swings ever "
        "faster about the direction across the slope; the multiplier has an initial "
        "value of "
        "its own.",
    .source = "Kozlov 1983; Bloch 2003, section 7.3",
    .forms = forms,
    .settings = settings,
    .build = build,
};
