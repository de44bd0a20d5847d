/* lagrange2.c: index 2, linear in the multiplier, with exact solution.
 *
 *     y1' = Y1' + (Y1^2 - y1^2)/2 + y2 - Y2 + a(y) lambda - a(Y) L
 *     y2' = Y2' - y1 y2 + Y1 Y2 + b(y) lambda - b(Y) L
 *     0   = y1 + y2^2/2 - Y1 - Y2^2/2
 *     a = 1 + v y2,   b = (1 - v y1) / 2
 *
 * Solution y = Y = (1 + sin(t)/2, cos t), lambda = L = 1 + sin(2t)/2. f_lambda = (a, b) is
 * constant for v = 0 and turns for v = 1/2: results that hold for a constant one only can be told
 * apart. g_y f_lambda = a + y2 b is at least 0.1 then. In the form coupled the first two
 * equations are added to each other: a leading matrix that is not diagonal.
 */
#include "support.h"

enum { unknowns = 3 };

typedef struct state {
    double turning;
    int coupled;
    double x0[unknowns], xdot0[unknowns];
} state;

static int exact(double t, double *x, void *user)
{
    (void)user;
    x[0] = 1 + sin(t) / 2;
    x[1] = cos(t);
    x[2] = 1 + sin(2 * t) / 2;
    return DAE_OK;
}

static double part_a(const state *s, const double *x)
{
    return 1 + s->turning * x[1];
}

static double part_b(const state *s, const double *x)
{
    return (1 - s->turning * x[0]) / 2;
}

static int rhs(double t, const double *x, double *f, void *user)
{
    const state *s = user;
    double X[unknowns];
    exact(t, X, user);
    f[0] = cos(t) / 2 + (X[0] * X[0] - x[0] * x[0]) / 2 + x[1] - X[1] + part_a(s, x) * x[2] -
           part_a(s, X) * X[2];
    f[1] = -sin(t) - x[0] * x[1] + X[0] * X[1] + part_b(s, x) * x[2] - part_b(s, X) * X[2];
    f[2] = x[0] + x[1] * x[1] / 2 - X[0] - X[1] * X[1] / 2;
    return DAE_OK;
}

static int jacobian(double t, const double *x, const double *xdot, double *J, void *user)
{
    const state *s = user;
    (void)t, (void)xdot;
    J[0 + 0 * unknowns] = -x[0];
    J[0 + 1 * unknowns] = 1 + s->turning * x[2];
    J[0 + 2 * unknowns] = part_a(s, x);
    J[1 + 0 * unknowns] = -x[1] - s->turning * x[2] / 2;
    J[1 + 1 * unknowns] = -x[0];
    J[1 + 2 * unknowns] = part_b(s, x);
    J[2 + 0 * unknowns] = 1;
    J[2 + 1 * unknowns] = x[1];
    return DAE_OK;
}

/* Rows 0 and 1 of n columns: the second times 1/2 to the first, the old first times 1/4 to
 * the second. */
static void couple(const state *s, double *a, int columns)
{
    for (int j = 0; j < columns && s->coupled; j++) {
        double *column = a + j * unknowns, first = column[0], second = column[1];
        column[0] = first + second / 2;
        column[1] = second + first / 4;
    }
}

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    rhs(t, x, r, user);
    r[0] = xdot[0] - r[0];
    r[1] = xdot[1] - r[1];
    couple(user, r, 1);
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    jacobian(t, x, xdot, K, user);
    for (int j = 0; j < unknowns; j++) negate(K + j * unknowns, 2);
    couple(user, K, unknowns);
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot;
    C[0 + 0 * unknowns] = 1;
    C[1 + 1 * unknowns] = 1;
    couple(user, C, 2);
    return DAE_OK;
}

static int constraints(double t, const double *x, double *c, void *user)
{
    double f[unknowns];
    rhs(t, x, f, user);
    c[0] = f[2];
    c[1] = f[0] + x[1] * f[1] - cos(t) / 2 + cos(t) * sin(t);
    return DAE_OK;
}

static const char *const names[] = { "y1", "y2", "lambda" };
static const char *const constraint_names[] = { "y1 + y2^2/2", "its derivative" };
static const unsigned char level[] = { 0, 0, DAE_INDEX2 };
static const double mass[] = { 1, 1, 0 };

static int build(const char *form, const double *value, problem_instance *out)
{
    dae_problem *p = &out->problem;
    if (!(value[0] >= 0 && value[0] <= 2)) return bad_setting(0);
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    s->turning = value[0];
    s->coupled = strcmp(form, "coupled") == 0;
    exact(0, s->x0, NULL);
    s->xdot0[0] = 0.5;
    s->xdot0[2] = 1;
    p->size = unknowns;
    p->user = s;
    p->names = names;
    p->level = level;
    p->pattern = dense_pattern();
    if (strcmp(form, "mass") == 0) {
        p->rhs = rhs;
        p->mass_kind = DAE_MASS_DIAGONAL;
        p->mass_values = mass;
        p->jacobian_x = jacobian;
    } else {
        p->residual = residual;
        p->jacobian_x = jacobian_x;
        p->jacobian_xdot = jacobian_xdot;
    }
    out->t1 = 3;
    out->x0 = s->x0;
    out->xdot0 = s->xdot0;
    out->index = 2;
    out->exact = exact;
    out->reference_source = "exact solution";
    out->atol_over_rtol = 1;
    out->constraint_count = 2;
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const char *const forms[] = { "implicit", "mass", "coupled", NULL };
static const problem_setting settings[] = {
    { "turning", 0.5, "0: f_lambda is constant; up to 2: it turns with y" },
    { NULL, 0, NULL },
};

const problem_entry problem_lagrange2 = {
    .name = "lagrange2",
    .title = "index 2, linear in the multiplier, with exact solution",
    .description =
        "y' = f0(t, y) + f_lambda(y) lambda, 0 = g(t, y), solved by 1 + sin(t)/2, cos t and "
        "1 + sin(2t)/2. The form for which beta-blocked multistep methods are made. With "
        "turning=0 the direction f_lambda of the multiplier is constant, and some methods "
        "look better than they are.",
    .source = "of the kind of Arevalo, Fuhrer, Soderlind 1996, equation (1)",
    .forms = forms,
    .settings = settings,
    .build = build,
};
