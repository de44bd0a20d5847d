/* sine.c: the smallest index-2 system.
 *
 *     x = sin t
 *     x' + y = 0          so y = -cos t: no initial value is free
 *
 * Levels: x is differentiated (0); y needs one derivative of the constraint (2).
 */
#include "support.h"

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    r[0] = x[0] - sin(t);
    r[1] = xdot[0] + x[1];
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    K[0 + 0 * 2] = 1;
    K[1 + 1 * 2] = 1;
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    C[1 + 0 * 2] = 1;
    return DAE_OK;
}

/* The constraint differentiated once: index 1, and x0 is free. */
static int residual_1(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    r[0] = xdot[0] - cos(t);
    r[1] = xdot[0] + x[1];
    return DAE_OK;
}

static int jacobian_x_1(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    K[1 + 1 * 2] = 1;
    return DAE_OK;
}

static int jacobian_xdot_1(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    C[0 + 0 * 2] = C[1 + 0 * 2] = 1;
    return DAE_OK;
}

static int leading_d(double t, const double *x, double *d, void *user)
{
    (void)t, (void)user;
    d[0] = x[0];
    return DAE_OK;
}

static int exact(double t, double *x, void *user)
{
    (void)user;
    x[0] = sin(t);
    x[1] = -cos(t);
    return DAE_OK;
}

static int constraints(double t, const double *x, double *c, void *user)
{
    (void)user;
    c[0] = x[0] - sin(t);
    c[1] = x[1] + cos(t);
    return DAE_OK;
}

static const char *const names[] = { "x", "y" };
static const char *const equations[] = { "x = sin t", "x' + y = 0" };
static const char *const equations_1[] = { "x' = cos t", "x' + y = 0" };
static const unsigned char level_1[] = { 0, DAE_ALGEBRAIC };
static const char *const constraint_names[] = { "x = sin t", "hidden: y = -cos t" };
static const unsigned char level[] = { 0, DAE_INDEX2 };
static const double x0[] = { 0, -1 }, xdot0[] = { 1, 0 };

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)value;
    dae_problem *p = &out->problem;
    p->size = 2;
    p->residual = residual;
    p->jacobian_x = jacobian_x;
    p->jacobian_xdot = jacobian_xdot;
    p->pattern = dense_pattern();
    p->names = names;
    p->equation_names = equations;
    p->level = level;
    if (strcmp(form, "leading") == 0) { /* d' = x' = xdot[0]: the same callbacks serve */
        p->d = leading_d;
        p->d_size = 1;
    }
    out->index = 2;
    if (strcmp(form, "index1") == 0) {
        p->residual = residual_1;
        p->jacobian_x = jacobian_x_1;
        p->jacobian_xdot = jacobian_xdot_1;
        p->equation_names = equations_1;
        p->level = level_1;
        out->index = 1;
    }
    out->t1 = 5;
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

static const char *const forms[] = { "implicit", "leading", "index1", NULL };

const problem_entry problem_sine = {
    .name = "sine",
    .title = "x = sin t, x' + y = 0: the smallest index-2 system",
    .description = "The solution x = sin t, y = -cos t has no freedom: y is the derivative of a "
                   "given function. The trapezoidal rule keeps an error of y alive and lets it "
                   "grow with wrong start values; BDF and stiffly accurate methods differentiate "
                   "correctly. The form index1 has x' = cos t in place of x = sin t.",
    .source = "a standard example of the numerical DAE literature; Brenan, Campbell, "
              "Petzold 1996, ch. 2",
    .forms = forms,
    .build = build,
};
