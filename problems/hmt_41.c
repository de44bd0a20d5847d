/* hmt_41.c: an index-2 example that breaks BDF unless its leading term is reformulated.
 *
 *     standard   ( 0   0   ) x' + ( 1  eta t   ) x = ( exp(-t) )
 *                ( 1 eta t )      ( 0  1 + eta )     (    0    )
 *     leading    x1 + eta t x2 = exp(-t)
 *                (x1 + eta t x2)' + x2 = 0              d = x1 + eta t x2
 *
 * Solution x2 = exp(-t), x1 = (1 - eta t) exp(-t). Level: x2 is minus the derivative
 * of the constraint's inhomogeneity (2); x1 = exp(-t) - eta t x2 contains x2 and so is
 * of level 2 as well (for eta = 0 it is a plain differential unknown, 0).
 */
#include "support.h"

typedef struct state {
    double eta;
    unsigned char level[2];
    double x0[2], xdot0[2];
} state;

static int standard_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    double eta = ((const state *)user)->eta;
    r[0] = x[0] + eta * t * x[1] - exp(-t);
    r[1] = xdot[0] + eta * t * xdot[1] + (1 + eta) * x[1];
    return DAE_OK;
}

static int standard_jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)x, (void)xdot;
    double eta = ((const state *)user)->eta;
    K[0 + 0 * 2] = 1;
    K[0 + 1 * 2] = eta * t;
    K[1 + 1 * 2] = 1 + eta;
    return DAE_OK;
}

static int leading_residual(double t, const double *x, const double *ddot, double *r, void *user)
{
    double eta = ((const state *)user)->eta;
    r[0] = x[0] + eta * t * x[1] - exp(-t);
    r[1] = ddot[0] + x[1];
    return DAE_OK;
}

static int leading_jacobian_x(double t, const double *x, const double *ddot, double *K, void *user)
{
    (void)x, (void)ddot;
    double eta = ((const state *)user)->eta;
    K[0 + 0 * 2] = 1;
    K[0 + 1 * 2] = eta * t;
    K[1 + 1 * 2] = 1;
    return DAE_OK;
}

/* Of both forms: E of the standard form, f_d' d_x of the other. */
static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)x, (void)xdot;
    C[1 + 0 * 2] = 1;
    C[1 + 1 * 2] = ((const state *)user)->eta * t;
    return DAE_OK;
}

static int leading_d(double t, const double *x, double *d, void *user)
{
    d[0] = x[0] + ((const state *)user)->eta * t * x[1];
    return DAE_OK;
}

static int exact(double t, double *x, void *user)
{
    x[0] = (1 - ((const state *)user)->eta * t) * exp(-t);
    x[1] = exp(-t);
    return DAE_OK;
}

static int constraints(double t, const double *x, double *c, void *user)
{
    c[0] = x[0] + ((const state *)user)->eta * t * x[1] - exp(-t);
    c[1] = x[1] - exp(-t);
    return DAE_OK;
}

static const char *const names[] = { "x1", "x2" };
static const char *const constraint_names[] = { "x1 + eta t x2 = exp(-t)", "hidden: x2 = exp(-t)" };

static int build(const char *form, const double *value, problem_instance *out)
{
    double eta = value[0];
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    *s = (state){ .eta = eta, .level = { DAE_INDEX2, DAE_INDEX2 }, .x0 = { 1, 1 } };
    if (eta == 0) s->level[0] = 0;
    dae_problem *p = &out->problem;
    p->size = 2;
    p->names = names;
    p->level = s->level;
    p->pattern = dense_pattern();
    p->jacobian_xdot = jacobian_xdot;
    if (strcmp(form, "leading") == 0) {
        p->residual = leading_residual;
        p->jacobian_x = leading_jacobian_x;
        p->d = leading_d;
        p->d_size = 1;
        s->xdot0[0] = -1;
    } else {
        p->residual = standard_residual;
        p->jacobian_x = standard_jacobian_x;
        s->xdot0[0] = -1 - eta;
        s->xdot0[1] = -1;
    }
    out->t1 = 2;
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
    { "eta", -2, "speed at which the leading matrix turns" },
    { NULL, 0, NULL },
};

const problem_entry problem_hmt_41 = {
    .name = "hmt-41",
    .title = "linear index 2 with a turning leading matrix: why leading terms matter",
    .description = "E(t) x' + F(t) x = q with E = (0 0; 1 eta t). In the form standard implicit "
                   "Euler is unstable for eta < -1/2 and not even defined for eta = -1, whatever "
                   "the step size; BDF of order k is unstable below eta = -2^-k. In the form "
                   "leading, (x1 + eta t x2)' is differenced as a whole and every eta is harmless.",
    .source = "Gear & Petzold 1984; Higueras, Maerz, Tischendorf, Numerically well "
              "formulated index-2 DAEs, Example 4.1",
    .forms = forms,
    .settings = settings,
    .build = build,
};
