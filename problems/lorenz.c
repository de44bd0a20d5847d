/* lorenz.c: the Lorenz equations over a time short enough to have a reference.
 *
 *     x' = 10 (y - x),   y' = 28 x - y - x z,   z' = x y - 8/3 z,   from (-8, 8, 27)
 *
 * The reference was computed with Taylor series of order 24 and 30 in 40 digits, which agree in
 * all digits given.
 */
#include "support.h"

static int rhs(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = 10 * (x[1] - x[0]);
    f[1] = 28 * x[0] - x[1] - x[0] * x[2];
    f[2] = x[0] * x[1] - 8.0 / 3 * x[2];
    return DAE_OK;
}

static int jacobian(double t, const double *x, const double *xdot, double *J, void *user)
{
    (void)t, (void)xdot, (void)user;
    J[0 + 0 * 3] = -10;
    J[0 + 1 * 3] = 10;
    J[1 + 0 * 3] = 28 - x[2];
    J[1 + 1 * 3] = -1;
    J[1 + 2 * 3] = -x[0];
    J[2 + 0 * 3] = x[1];
    J[2 + 1 * 3] = x[0];
    J[2 + 2 * 3] = -8.0 / 3;
    return DAE_OK;
}

static const char *const names[] = { "x", "y", "z" };
static const unsigned char level[] = { 0, 0, 0 };
static const double x0[] = { -8, 8, 27 }, xdot0[] = { 160, -16, -136 };
static const double reference[] = { 13.562831425997319397, 5.5455932842820587543,
                                    40.556588208188049163 };

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)form, (void)value;
    dae_problem *p = &out->problem;
    p->size = 3;
    p->names = names;
    p->level = level;
    p->pattern = dense_pattern();
    p->rhs = rhs;
    p->jacobian_x = jacobian;
    out->t1 = 2;
    out->x0 = x0;
    out->xdot0 = xdot0;
    out->reference = reference;
    out->reference_source = "Taylor series in 40 digits";
    out->atol_over_rtol = 1;
    return DAE_OK;
}

static const char *const forms[] = { "ode", NULL };

const problem_entry problem_lorenz = {
    .name = "lorenz",
    .title = "the Lorenz equations to t = 2, before chaos hides the error",
    .description =
        "Convection in three unknowns, the standard strange attractor. An error grows about "
        "like exp(0.9 t), so accuracy can be measured for a short time only: t = 2.",
    .source = "E. N. Lorenz, J. Atmos. Sci. 20 (1963) 130",
    .forms = forms,
    .build = build,
};
