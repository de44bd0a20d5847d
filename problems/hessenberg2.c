/* hessenberg2.c: semi-explicit, index 2, nonlinear in the index-2 unknown.
 *
 *     y1' = y1 y2^2 z^2
 *     y2' = y1^2 y2^2 - 3 y2^2 z
 *     0   = y1^2 y2 - 1
 *
 * Solution y1 = exp(t), y2 = exp(-2 t), z = exp(2 t); g_y f_z = y1^2 y2^2 (4 y2 z -
 * 3), which is exp(-2 t) there. Orders for z must be measured on a system like this:
 * when f is linear in z some methods look better than they are.
 */
#include "support.h"

static int rhs(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    double y1 = x[0], y2 = x[1], z = x[2];
    f[0] = y1 * y2 * y2 * z * z;
    f[1] = y2 * y2 * (y1 * y1 - 3 * z);
    f[2] = y1 * y1 * y2 - 1;
    return DAE_OK;
}

static int jacobian(double t, const double *x, const double *xdot, double *J, void *user)
{
    (void)t, (void)xdot, (void)user;
    double y1 = x[0], y2 = x[1], z = x[2];
    J[0 + 0 * 3] = y2 * y2 * z * z;
    J[0 + 1 * 3] = 2 * y1 * y2 * z * z;
    J[0 + 2 * 3] = 2 * y1 * y2 * y2 * z;
    J[1 + 0 * 3] = 2 * y1 * y2 * y2;
    J[1 + 1 * 3] = 2 * y2 * (y1 * y1 - 3 * z);
    J[1 + 2 * 3] = -3 * y2 * y2;
    J[2 + 0 * 3] = 2 * y1 * y2;
    J[2 + 1 * 3] = y1 * y1;
    return DAE_OK;
}

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    rhs(t, x, r, user);
    r[0] = xdot[0] - r[0];
    r[1] = xdot[1] - r[1];
    r[2] = -r[2];
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    jacobian(t, x, xdot, K, user);
    negate(K, 9);
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    C[0 + 0 * 3] = 1;
    C[1 + 1 * 3] = 1;
    return DAE_OK;
}

static int exact(double t, double *x, void *user)
{
    (void)user;
    x[0] = exp(t);
    x[1] = exp(-2 * t);
    x[2] = exp(2 * t);
    return DAE_OK;
}

static int constraints(double t, const double *x, double *c, void *user)
{
    (void)t, (void)user;
    double y1 = x[0], y2 = x[1], z = x[2];
    c[0] = y1 * y1 * y2 - 1;
    c[1] = y1 * y1 * y2 * y2 * (2 * y2 * z * z + y1 * y1 - 3 * z); /* g_y f */
    return DAE_OK;
}

static const char *const names[] = { "y1", "y2", "z" };
static const char *const constraint_names[] = { "y1^2 y2 - 1", "its derivative" };
static const unsigned char level[] = { 0, 0, DAE_INDEX2 };
static const double mass[] = { 1, 1, 0 };
static const double x0[] = { 1, 1, 1 }, xdot0[] = { 1, -2, 2 };

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)value;
    dae_problem *p = &out->problem;
    p->size = 3;
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
    out->t1 = 1;
    out->x0 = x0;
    out->xdot0 = xdot0;
    out->index = 2;
    out->exact = exact;
    out->reference_source = "exact solution";
    out->atol_over_rtol = 1;
    out->constraint_count = 2;
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const char *const forms[] = { "implicit", "mass", NULL };

const problem_entry problem_hessenberg2 = {
    .name = "hessenberg2",
    .title = "a semi-explicit index-2 system, nonlinear in z, with exact solution",
    .description = "y1' = y1 y2^2 z^2, y2' = y1^2 y2^2 - 3 y2^2 z, 0 = y1^2 y2 - 1, solved by "
                   "exp(t), exp(-2 t), exp(2 t). The quadratic z makes order results for index 2 "
                   "show their true values.",
    .source = "of the kind of Hairer, Lubich, Roche 1989, order tests for index 2",
    .forms = forms,
    .build = build,
};
