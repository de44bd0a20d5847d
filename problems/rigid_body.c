/* rigid_body.c: Euler's equations of a body that turns freely, solved by elliptic functions.
 *
 *     y1' = y2 y3,   y2' = -y1 y3,   y3' = -m y1 y2,   y(0) = (0, 1, 1)
 *
 * Solution sn, cn, dn of parameter m, 0 <= m <= 1; y1^2 + y2^2 and m y1^2 + y3^2 stay 1.
 */
#include "support.h"

typedef struct state {
    double m;
} state;

static int rhs(double t, const double *y, double *f, void *user)
{
    (void)t;
    const state *s = user;
    f[0] = y[1] * y[2];
    f[1] = -y[0] * y[2];
    f[2] = -s->m * y[0] * y[1];
    return DAE_OK;
}

static int jacobian(double t, const double *y, const double *ydot, double *J, void *user)
{
    (void)t, (void)ydot;
    const state *s = user;
    J[0 + 1 * 3] = y[2];
    J[0 + 2 * 3] = y[1];
    J[1 + 0 * 3] = -y[2];
    J[1 + 2 * 3] = -y[0];
    J[2 + 0 * 3] = -s->m * y[1];
    J[2 + 1 * 3] = -s->m * y[0];
    return DAE_OK;
}

static int residual(double t, const double *y, const double *ydot, double *r, void *user)
{
    rhs(t, y, r, user);
    for (int i = 0; i < 3; i++) r[i] = ydot[i] - r[i];
    return DAE_OK;
}

static int jacobian_x(double t, const double *y, const double *ydot, double *K, void *user)
{
    jacobian(t, y, ydot, K, user);
    negate(K, 9);
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *y, const double *ydot, double *C, void *user)
{
    (void)t, (void)y, (void)ydot, (void)user;
    C[0 + 0 * 3] = C[1 + 1 * 3] = C[2 + 2 * 3] = 1;
    return DAE_OK;
}

/* Gauss's descending transformation: a and c = (a - b)/2 by arithmetic and geometric means,
 * then back with sin(2 phi_{n-1} - phi_n) = (c_n / a_n) sin phi_n. */
static int exact(double t, double *y, void *user)
{
    enum { most = 12 };
    const state *s = user;
    double a[most + 1] = { 1 }, c[most + 1] = { 0 }, b = sqrt(1 - s->m);
    int n = 0;
    if (s->m == 1) {
        y[0] = tanh(t);
        y[1] = y[2] = 1 / cosh(t);
        return DAE_OK;
    }
    for (; n < most && fabs(a[n] - b) > 1e-16 * a[n]; n++) {
        a[n + 1] = (a[n] + b) / 2;
        c[n + 1] = (a[n] - b) / 2;
        b = sqrt(a[n] * b);
    }
    double phi = ldexp(a[n] * t, n);
    for (; n > 0; n--) phi = (phi + asin(c[n] / a[n] * sin(phi))) / 2;
    y[0] = sin(phi);
    y[1] = cos(phi);
    y[2] = sqrt(1 - s->m * y[0] * y[0]);
    return DAE_OK;
}

static int constraints(double t, const double *y, double *c, void *user)
{
    (void)t;
    const state *s = user;
    c[0] = y[0] * y[0] + y[1] * y[1] - 1;
    c[1] = s->m * y[0] * y[0] + y[2] * y[2] - 1;
    return DAE_OK;
}

static const char *const names[] = { "y1", "y2", "y3" };
static const char *const constraint_names[] = { "y1^2 + y2^2", "m y1^2 + y3^2" };
static const unsigned char level[] = { 0, 0, 0 };
static const double x0[] = { 0, 1, 1 }, xdot0[] = { 1, 0, 0 };

static int build(const char *form, const double *value, problem_instance *out)
{
    if (!(value[0] >= 0 && value[0] <= 1)) return bad_setting(0);
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    s->m = value[0];
    dae_problem *p = &out->problem;
    p->size = 3;
    p->names = names;
    p->level = level;
    p->pattern = dense_pattern();
    if (strcmp(form, "ode") == 0) {
        p->rhs = rhs;
        p->jacobian_x = jacobian;
    } else {
        p->residual = residual;
        p->jacobian_x = jacobian_x;
        p->jacobian_xdot = jacobian_xdot;
    }
    out->t1 = 12;
    out->x0 = x0;
    out->xdot0 = xdot0;
    out->exact = exact;
    out->reference_source = "exact solution";
    out->atol_over_rtol = 1;
    out->constraint_count = 2;
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const char *const forms[] = { "ode", "implicit", NULL };
static const problem_setting settings[] = {
    { "m", 0.51, "parameter of the elliptic functions, 0 to 1" },
    { NULL, 0, NULL },
};

const problem_entry problem_rigid_body = {
    .name = "rigid-body",
    .title = "Euler's equations of a free rigid body: Jacobi's elliptic functions",
    .description =
        "y1' = y2 y3, y2' = -y1 y3, y3' = -m y1 y2: a smooth periodic motion with two "
        "quadratic invariants and the exact solution sn, cn, dn. The easiest test of a method "
        "of high order.",
    .source = "Krogh 1973; class B of DETEST: Hull, Enright, Fellen, Sedgwick, SIAM J. Numer. "
              "Anal. 9 (1972) 603",
    .forms = forms,
    .settings = settings,
    .build = build,
};
