/* robertson.c: three chemical species over eleven decades of time.
 *
 *     x1' = -0.04 x1 + 1e4 x2 x3
 *     x2' =  0.04 x1 - 1e4 x2 x3 - 3e7 x2^2
 *     1   =  x1 + x2 + x3                       ("ode": x3' = 3e7 x2^2)
 */
#include "support.h"

static const double k1 = 0.04, k2 = 3e7, k3 = 1e4;

static int ode_rhs(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -k1 * x[0] + k3 * x[1] * x[2];
    f[2] = k2 * x[1] * x[1];
    f[1] = -f[0] - f[2];
    return DAE_OK;
}

static int ode_jacobian(double t, const double *x, const double *xdot, double *J, void *user)
{
    (void)t, (void)xdot, (void)user;
    J[0 + 0 * 3] = -k1;
    J[0 + 1 * 3] = k3 * x[2];
    J[0 + 2 * 3] = k3 * x[1];
    J[2 + 1 * 3] = 2 * k2 * x[1];
    for (int j = 0; j < 3; j++) J[1 + j * 3] = -J[0 + j * 3] - J[2 + j * 3];
    return DAE_OK;
}

/* M = diag(1, 1, 0): the third right-hand side is the constraint. */
static int mass_rhs(double t, const double *x, double *f, void *user)
{
    ode_rhs(t, x, f, user);
    f[2] = 1 - x[0] - x[1] - x[2];
    return DAE_OK;
}

static int mass_jacobian(double t, const double *x, const double *xdot, double *J, void *user)
{
    ode_jacobian(t, x, xdot, J, user);
    for (int j = 0; j < 3; j++) J[2 + j * 3] = -1;
    return DAE_OK;
}

/* F = (x1' - f1, x2' - f2, -f3). The leading-term form has d = (x1, x2), d' in xdot,
 * and so the same residual and the same K and C. */
static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    mass_rhs(t, x, r, user);
    r[0] = xdot[0] - r[0];
    r[1] = xdot[1] - r[1];
    r[2] = -r[2];
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    mass_jacobian(t, x, xdot, K, user);
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

static int leading_d(double t, const double *x, double *d, void *user)
{
    (void)t, (void)user;
    d[0] = x[0];
    d[1] = x[1];
    return DAE_OK;
}

static int constraints(double t, const double *x, double *c, void *user)
{
    (void)t, (void)user;
    c[0] = x[0] + x[1] + x[2] - 1;
    return DAE_OK;
}

static const char *const names[] = { "x1", "x2", "x3" };
static const char *const equations[] = { "balance of x1", "balance of x2", "total mass" };
static const char *const ode_equations[] = { "balance of x1", "balance of x2", "balance of x3" };
static const char *const constraint_names[] = { "total mass" };
static const unsigned char dae_level[] = { 0, 0, DAE_ALGEBRAIC };
static const unsigned char ode_level[] = { 0, 0, 0 };
static const double singular_mass[] = { 1, 1, 0 };
static const double x0[] = { 1, 0, 0 }, xdot0[] = { -0.04, 0.04, 0 };
static const double reference[] = { 2.0833401497012550e-08, 8.3333607703347131e-14,
                                    9.9999997916650496e-01 };

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)value;
    dae_problem *p = &out->problem;
    p->size = 3;
    p->names = names;
    p->equation_names = equations;
    p->level = dae_level;
    p->pattern = dense_pattern();
    out->index = 1;
    if (strcmp(form, "ode") == 0) {
        p->rhs = ode_rhs;
        p->jacobian_x = ode_jacobian;
        p->equation_names = ode_equations;
        p->level = ode_level;
        out->index = 0;
    } else if (strcmp(form, "mass") == 0) {
        p->rhs = mass_rhs;
        p->mass_kind = DAE_MASS_DIAGONAL;
        p->mass_values = singular_mass;
        p->jacobian_x = mass_jacobian;
    } else {
        p->residual = residual;
        p->jacobian_x = jacobian_x;
        p->jacobian_xdot = jacobian_xdot;
    }
    if (strcmp(form, "leading") == 0) {
        p->d = leading_d;
        p->d_size = 2;
    }
    out->t0 = 0;
    out->t1 = 1e11;
    out->x0 = x0;
    out->xdot0 = xdot0; /* the first two are d' */
    out->reference = reference;
    out->reference_source = "IVP test set 2.4 (Mazzia, Magherini), problem rober";
    out->atol_over_rtol = 1e-4;
    out->constraint_count = 1;
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const char *const forms[] = { "implicit", "mass", "leading", "ode", NULL };

const problem_entry problem_robertson = {
    .name = "robertson",
    .title = "Robertson's reaction: three species, eleven decades of time, index 1",
    .description = "x1' = -0.04 x1 + 1e4 x2 x3, x2' = 0.04 x1 - 1e4 x2 x3 - 3e7 x2^2, x1 + x2 + x3 "
                   "= 1 (form ode: x3' = 3e7 x2^2 instead). Very stiff after a short transient; "
                   "the run to t = 1e11 needs steps over more than ten decades, and x2 is of size "
                   "1e-5 falling to 1e-13: the absolute tolerance has to be small, and a code that "
                   "lets x2 become negative runs away.",
    .source = "H. H. Robertson 1966; Hairer & Wanner 1996, IV.1; IVP test set 2.4 "
              "(Mazzia, Magherini)",
    .forms = forms,
    .build = build,
};
