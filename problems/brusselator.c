/* brusselator.c: a chemical oscillator, not stiff at these rates.
 *
 *     y1' = 1 + y1^2 y2 - 4 y1,   y2' = 3 y1 - y1^2 y2,   y(0) = (1.5, 3)
 *
 * The reference was computed with Taylor series of order 24 and 30 in 40 digits, which agree in
 * all digits given.
 */
#include "support.h"

static int rhs(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    double fusion = y[0] * y[0] * y[1];
    f[0] = 1 + fusion - 4 * y[0];
    f[1] = 3 * y[0] - fusion;
    return DAE_OK;
}

static int jacobian(double t, const double *y, const double *ydot, double *J, void *user)
{
    (void)t, (void)ydot, (void)user;
    J[0 + 0 * 2] = 2 * y[0] * y[1] - 4;
    J[0 + 1 * 2] = y[0] * y[0];
    J[1 + 0 * 2] = 3 - 2 * y[0] * y[1];
    J[1 + 1 * 2] = -y[0] * y[0];
    return DAE_OK;
}

static const char *const names[] = { "y1", "y2" };
static const unsigned char level[] = { 0, 0 };
static const double x0[] = { 1.5, 3 }, xdot0[] = { 1.75, -2.25 };
static const double reference[] = { 0.4986370712683478486, 4.5967803494520111832 };

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)form, (void)value;
    dae_problem *p = &out->problem;
    p->size = 2;
    p->names = names;
    p->level = level;
    p->pattern = dense_pattern();
    p->rhs = rhs;
    p->jacobian_x = jacobian;
    out->t1 = 20;
    out->x0 = x0;
    out->xdot0 = xdot0;
    out->reference = reference;
    out->reference_source = "Taylor series in 40 digits";
    out->atol_over_rtol = 1;
    return DAE_OK;
}

static const char *const forms[] = { "ode", NULL };

const problem_entry problem_brusselator = {
    .name = "brusselator",
    .title = "the Brusselator: a chemical limit cycle, not stiff",
    .description =
        "Two species on a limit cycle, y1' = 1 + y1^2 y2 - 4 y1, y2' = 3 y1 - y1^2 y2: slow "
        "stretches with a short burst in each turn, so size and order of the steps must "
        "follow.",
    .source = "Prigogine & Lefever 1968; Hairer, Norsett, Wanner 1993, I.16 and II.4",
    .forms = forms,
    .build = build,
};
