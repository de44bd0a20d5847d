/* nonlinear_ode.c: Kaps' problem, a nonlinear ODE with known solution and any stiffness.
 *
 *     y1' = -(2 + 1/eps) y1 + y2^2 / eps
 *     y2' = y1 - y2 - y2^2
 *
 * Solution y1 = exp(-2 t), y2 = exp(-t) for every eps; eps -> 0 gives the DAE y1 = y2^2.
 */
#include "support.h"

typedef struct state {
    double eps;
} state;

static int rhs(double t, const double *y, double *f, void *user)
{
    (void)t;
    double eps = ((const state *)user)->eps;
    f[0] = -2 * y[0] + (y[1] * y[1] - y[0]) / eps;
    f[1] = y[0] - y[1] - y[1] * y[1];
    return DAE_OK;
}

static int jacobian(double t, const double *y, const double *ydot, double *J, void *user)
{
    (void)t, (void)ydot;
    double eps = ((const state *)user)->eps;
    J[0 + 0 * 2] = -2 - 1 / eps;
    J[0 + 1 * 2] = 2 * y[1] / eps;
    J[1 + 0 * 2] = 1;
    J[1 + 1 * 2] = -1 - 2 * y[1];
    return DAE_OK;
}

static int residual(double t, const double *y, const double *ydot, double *r, void *user)
{
    rhs(t, y, r, user);
    r[0] = ydot[0] - r[0];
    r[1] = ydot[1] - r[1];
    return DAE_OK;
}

static int jacobian_x(double t, const double *y, const double *ydot, double *K, void *user)
{
    jacobian(t, y, ydot, K, user);
    negate(K, 4);
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *y, const double *ydot, double *C, void *user)
{
    (void)t, (void)y, (void)ydot, (void)user;
    C[0 + 0 * 2] = 1;
    C[1 + 1 * 2] = 1;
    return DAE_OK;
}

static int exact(double t, double *y, void *user)
{
    (void)user;
    y[0] = exp(-2 * t);
    y[1] = exp(-t);
    return DAE_OK;
}

static const char *const names[] = { "y1", "y2" };
static const unsigned char level[] = { 0, 0 };
static const double x0[] = { 1, 1 }, xdot0[] = { -2, -1 };

static int build(const char *form, const double *value, problem_instance *out)
{
    if (!(value[0] > 0)) return bad_setting(0);
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    s->eps = value[0];
    dae_problem *p = &out->problem;
    p->size = 2;
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
    out->t1 = 2;
    out->x0 = x0;
    out->xdot0 = xdot0;
    out->exact = exact;
    out->reference_source = "exact solution";
    out->atol_over_rtol = 1;
    return DAE_OK;
}

static const char *const forms[] = { "ode", "implicit", NULL };
static const problem_setting settings[] = {
    { "eps", 0.1, "small: stiff; the solution does not depend on it" },
    { NULL, 0, NULL },
};

const problem_entry problem_nonlinear_ode = {
    .name = "nonlinear-ode",
    .title = "Kaps' problem: a nonlinear ODE with exact solution and adjustable "
             "stiffness",
    .description = "y1' = -(2 + 1/eps) y1 + y2^2/eps, y2' = y1 - y2 - y2^2, solved by exp(-2 t), "
                   "exp(-t) whatever eps is. For order studies (eps = 0.1) and order reduction "
                   "(eps small).",
    .source = "P. Kaps 1981; Dekker & Verwer 1984",
    .forms = forms,
    .settings = settings,
    .build = build,
};
