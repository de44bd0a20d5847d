/* hmt_11.c: a linear Hessenberg system of index 2 on which implicit methods act
 * explicitly.
 *
 *     standard   x1' + lambda x1 - x2 - x3 = 0
 *                x2' + (eta t (1 - eta t) - eta) x1 + lambda x2 - eta t x3 = 0
 *                (1 - eta t) x1 + x2 = 0
 *     leading    d = (x1, (1 - eta t) x1 + x2):  x2' = d2' - ((1 - eta t) x1)'
 *                                                    = d2' + (eta t - 1) d1' + eta x1
 *
 * Solution x1 = exp(-lambda t), x2 = (eta t - 1) x1, x3 = -x2. Implicit Euler on the
 * standard form multiplies x1 by (1 + eta h) / (1 + (lambda + eta) h): unstable once
 * eta < -1/h - lambda/2. Levels: x1, x2 differential; x3 is the index-2 unknown.
 */
#include "support.h"

typedef struct state {
    double lambda, eta;
    double x0[3], xdot0[3];
} state;

static int common_rows(const state *s, double t, const double *x, double *r)
{
    double et = s->eta * t;
    r[0] = s->lambda * x[0] - x[1] - x[2];
    r[1] = et * (1 - et) * x[0] + s->lambda * x[1] - et * x[2];
    r[2] = (1 - et) * x[0] + x[1];
    return DAE_OK;
}

static int leading_jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)x, (void)xdot;
    const state *s = user;
    double et = s->eta * t;
    K[0 + 0 * 3] = s->lambda;
    K[0 + 1 * 3] = -1;
    K[0 + 2 * 3] = -1;
    K[1 + 0 * 3] = et * (1 - et);
    K[1 + 1 * 3] = s->lambda;
    K[1 + 2 * 3] = -et;
    K[2 + 0 * 3] = 1 - et;
    K[2 + 1 * 3] = 1;
    return DAE_OK;
}

static int standard_jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    leading_jacobian_x(t, x, xdot, K, user);
    K[1 + 0 * 3] -= ((const state *)user)->eta;
    return DAE_OK;
}

static int standard_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    const state *s = user;
    common_rows(s, t, x, r);
    r[0] += xdot[0];
    r[1] += xdot[1] - s->eta * x[0];
    return DAE_OK;
}

static int leading_residual(double t, const double *x, const double *ddot, double *r, void *user)
{
    const state *s = user;
    common_rows(s, t, x, r);
    r[0] += ddot[0];
    r[1] += (s->eta * t - 1) * ddot[0] + ddot[1];
    return DAE_OK;
}

static int leading_d(double t, const double *x, double *d, void *user)
{
    d[0] = x[0];
    d[1] = (1 - ((const state *)user)->eta * t) * x[0] + x[1];
    return DAE_OK;
}

/* A D of the leading form is diag(1, 1, 0) = E again. */
static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    C[0 + 0 * 3] = 1;
    C[1 + 1 * 3] = 1;
    return DAE_OK;
}

static int exact(double t, double *x, void *user)
{
    const state *s = user;
    x[0] = exp(-s->lambda * t);
    x[1] = (s->eta * t - 1) * x[0];
    x[2] = -x[1];
    return DAE_OK;
}

static int constraints(double t, const double *x, double *c, void *user)
{
    double et = ((const state *)user)->eta * t;
    c[0] = (1 - et) * x[0] + x[1];
    c[1] = x[1] + x[2];
    return DAE_OK;
}

static const char *const names[] = { "x1", "x2", "x3" };
static const char *const constraint_names[] = { "(1 - eta t) x1 + x2", "hidden: x2 + x3" };
static const unsigned char level[] = { 0, 0, DAE_INDEX2 };

static int build(const char *form, const double *value, problem_instance *out)
{
    double lambda = value[0], eta = value[1];
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    *s = (state){ .lambda = lambda, .eta = eta, .x0 = { 1, -1, 1 } };
    s->xdot0[0] = -lambda;
    dae_problem *p = &out->problem;
    p->size = 3;
    p->names = names;
    p->level = level;
    p->pattern = dense_pattern();
    p->jacobian_xdot = jacobian_xdot;
    if (strcmp(form, "leading") == 0) {
        p->residual = leading_residual;
        p->jacobian_x = leading_jacobian_x;
        p->d = leading_d;
        p->d_size = 2;
        s->xdot0[1] = 0; /* d2 = 0 along the solution */
    } else {
        p->residual = standard_residual;
        p->jacobian_x = standard_jacobian_x;
        s->xdot0[1] = eta + lambda;
        s->xdot0[2] = -s->xdot0[1];
    }
    out->t1 = 1;
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

static const char *const forms[] = { "leading", "standard", NULL };
static const problem_setting settings[] = {
    { "lambda", 10, "decay of the solution" },
    { "eta", -50, "speed at which the constraint turns" },
    { NULL, 0, NULL },
};

const problem_entry problem_hmt_11 = {
    .name = "hmt-11",
    .title = "linear Hessenberg index 2 with a turning constraint: step size "
             "restrictions",
    .description = "x1 = exp(-lambda t) whatever eta is; yet in the form standard an implicit "
                   "method sees a problem that depends on eta and is unstable for steps above "
                   "about 1/|eta| when eta is negative. The form leading differentiates (x1, (1 - "
                   "eta t) x1 + x2), whose subspaces do not move, and has no such restriction.",
    .source = "Higueras, Maerz, Tischendorf, Numerically well formulated index-2 DAEs, "
              "Example 1.1",
    .forms = forms,
    .settings = settings,
    .build = build,
};
