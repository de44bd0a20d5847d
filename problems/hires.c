/* hires.c: High Irradiance RESponse, eight reactants of photomorphogenesis. */
#include "support.h"

static int rhs(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    double binding = 280 * y[5] * y[7];
    f[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007;
    f[1] = 1.71 * y[0] - 8.75 * y[1];
    f[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4];
    f[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3];
    f[4] = -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6];
    f[5] = -binding + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6];
    f[6] = binding - 1.81 * y[6];
    f[7] = -binding + 1.81 * y[6];
    return DAE_OK;
}

/* The constant part, [row][column]. */
static const double linear[8][8] = {
    { -1.71, 0.43, 8.32, 0, 0, 0, 0, 0 },   { 1.71, -8.75, 0, 0, 0, 0, 0, 0 },
    { 0, 0, -10.03, 0.43, 0.035, 0, 0, 0 }, { 0, 8.32, 1.71, -1.12, 0, 0, 0, 0 },
    { 0, 0, 0, 0, -1.745, 0.43, 0.43, 0 },  { 0, 0, 0, 0.69, 1.71, -0.43, 0.69, 0 },
    { 0, 0, 0, 0, 0, 0, -1.81, 0 },         { 0, 0, 0, 0, 0, 0, 1.81, 0 },
};

static int jacobian(double t, const double *y, const double *ydot, double *J, void *user)
{
    (void)t, (void)ydot, (void)user;
    static const double sign[8] = { 0, 0, 0, 0, 0, -1, 1, -1 };
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 8; i++) J[i + j * 8] = linear[i][j];
    for (int i = 5; i < 8; i++) {
        J[i + 5 * 8] += sign[i] * 280 * y[7];
        J[i + 7 * 8] += sign[i] * 280 * y[5];
    }
    return DAE_OK;
}

static int constraints(double t, const double *y, double *c, void *user)
{
    (void)t, (void)user;
    c[0] = y[6] + y[7] - 0.0057;
    return DAE_OK;
}

static const char *const names[] = { "Pr", "Pfr", "PrX", "PfrX", "PrX'", "PfrX'", "PfrX'E", "E" };
static const char *const constraint_names[] = { "enzyme" };
static const unsigned char level[8] = { 0 };
static const double x0[8] = { 1, 0, 0, 0, 0, 0, 0, 0.0057 };
static const double xdot0[8] = { -1.7093, 1.71, 0, 0, 0, 0, 0, 0 };
static const double reference[8] = {
    7.3713125733256685e-04, 1.4424857263161851e-04, 5.8887297409675752e-05, 1.1756513432831491e-03,
    2.3863561988313308e-03, 6.2389682527427964e-03, 2.8499983951857689e-03, 2.8500016048142308e-03,
};

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)form, (void)value;
    dae_problem *p = &out->problem;
    p->size = 8;
    p->rhs = rhs;
    p->jacobian_x = jacobian;
    p->pattern = dense_pattern();
    p->names = names;
    p->level = level;
    out->t1 = 321.8122;
    out->x0 = x0;
    out->xdot0 = xdot0;
    out->reference = reference;
    out->reference_source = "IVP test set 2.4 (Mazzia, Magherini), problem hires";
    out->atol_over_rtol = 1;
    out->constraint_count = 1;
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const char *const forms[] = { "ode", NULL };

const problem_entry problem_hires = {
    .name = "hires",
    .title = "HIRES: eight reactants of photomorphogenesis, a stiff ODE",
    .description = "Phytochrome under high irradiance: seven linear reactions and one bimolecular "
                   "one (280 y6 y8). Moderately stiff; the sum of the last two components is "
                   "constant, and just before the end the solution leaves a plateau, so that late "
                   "errors show.",
    .source = "E. Schaefer 1975; Hairer & Wanner 1996, IV.10; IVP test set 2.4 (Mazzia, "
              "Magherini)",
    .forms = forms,
    .build = build,
};
