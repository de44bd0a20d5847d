/* implicit1.c: a fully implicit index-1 system, nonlinear also in the derivatives.
 *
 *     w + w^3 / 10 + x1 - x2 cos t - q(t) = 0,   w = x1' + x2 x2'
 *     x2 (1 + x1^2) - (1 + exp(-2 t)) sin t = 0
 *
 * with q = (-exp(-t) + sin t cos t)^3 / 10, so that x1 = exp(-t), x2 = sin t. The
 * matrix in front of x' has rank 1, is not diagonal and depends on x and x': neither
 * unknown is algebraic by itself. Form leading: d = x1 + x2^2 / 2 and w = d'.
 */
#include "support.h"

static double forcing(double t)
{
    double w = -exp(-t) + sin(t) * cos(t);
    return w * w * w / 10;
}

static int leading_residual(double t, const double *x, const double *ddot, double *r, void *user)
{
    (void)user;
    double w = ddot[0];
    r[0] = w + w * w * w / 10 + x[0] - x[1] * cos(t) - forcing(t);
    r[1] = x[1] * (1 + x[0] * x[0]) - (1 + exp(-2 * t)) * sin(t);
    return DAE_OK;
}

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    double w = xdot[0] + x[1] * xdot[1];
    return leading_residual(t, x, &w, r, user);
}

static int leading_jacobian_x(double t, const double *x, const double *ddot, double *K, void *user)
{
    (void)ddot, (void)user;
    K[0 + 0 * 2] = 1;
    K[0 + 1 * 2] = -cos(t);
    K[1 + 0 * 2] = 2 * x[0] * x[1];
    K[1 + 1 * 2] = 1 + x[0] * x[0];
    return DAE_OK;
}

static int leading_jacobian_xdot(double t, const double *x, const double *ddot, double *C,
                                 void *user)
{
    (void)t, (void)user;
    double slope = 1 + 0.3 * ddot[0] * ddot[0];
    C[0 + 0 * 2] = slope;
    C[0 + 1 * 2] = slope * x[1];
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    double w = xdot[0] + x[1] * xdot[1];
    leading_jacobian_x(t, x, &w, K, user);
    K[0 + 1 * 2] += (1 + 0.3 * w * w) * xdot[1];
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    double w = xdot[0] + x[1] * xdot[1];
    return leading_jacobian_xdot(t, x, &w, C, user);
}

static int leading_d(double t, const double *x, double *d, void *user)
{
    (void)t, (void)user;
    d[0] = x[0] + x[1] * x[1] / 2;
    return DAE_OK;
}

static int exact(double t, double *x, void *user)
{
    (void)user;
    x[0] = exp(-t);
    x[1] = sin(t);
    return DAE_OK;
}

static int constraints(double t, const double *x, double *c, void *user)
{
    (void)user;
    c[0] = x[1] * (1 + x[0] * x[0]) - (1 + exp(-2 * t)) * sin(t);
    return DAE_OK;
}

static const char *const names[] = { "x1", "x2" };
static const char *const constraint_names[] = { "second equation" };
static const unsigned char level[] = { 0, 0 };
static const double x0[] = { 1, 0 };
static const double xdot0[] = { -1, 1 }; /* and d' = x1' + x2 x2' = -1 */

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)value;
    dae_problem *p = &out->problem;
    p->size = 2;
    p->names = names;
    p->level = level;
    p->pattern = dense_pattern();
    if (strcmp(form, "leading") == 0) {
        p->residual = leading_residual;
        p->jacobian_x = leading_jacobian_x;
        p->jacobian_xdot = leading_jacobian_xdot;
        p->d = leading_d;
        p->d_size = 1;
    } else {
        p->residual = residual;
        p->jacobian_x = jacobian_x;
        p->jacobian_xdot = jacobian_xdot;
    }
    out->t1 = 2;
    out->x0 = x0;
    out->xdot0 = xdot0;
    out->index = 1;
    out->exact = exact;
    out->reference_source = "exact solution";
    out->atol_over_rtol = 1;
    out->constraint_count = 1;
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const char *const forms[] = { "implicit", "leading", NULL };

const problem_entry problem_implicit1 = {
    .name = "implicit1",
    .title = "a fully implicit index-1 system with exact solution, for order studies",
    .description = "w + w^3/10 + x1 - x2 cos t = q(t) with w = x1' + x2 x2', and an algebraic "
                   "equation that ties x1 and x2 together. Nonlinear in x and x', singular leading "
                   "matrix that is neither diagonal nor constant. x1 = exp(-t), x2 = sin t.",
    .source = "made for this collection",
    .forms = forms,
    .build = build,
};
