/* hmt_47.c: a linear circuit with a capacitance that changes in time, index 2.
 *
 *     (C1(t) e1)' - (C2 (e2 - e1))' + G e1 = 0          C1 = 1 + (sin t + cos t) / 4
 *     (C2 (e2 - e1))' - j = 0                           C2 = 1, G = 2
 *     e2 = v(t) = 4 sin t + sin(2 t) / 4
 *
 * Leading term only: d = the charges (C1 e1, C2 (e2 - e1)). Solution e1 = sin t + cos
 * t, e2 = v, j = 3 cos t + cos(2 t) / 2 + sin t. Levels: e1 and e2 occur in d (0); the
 * current j through the source needs v' (2).
 */
#include "support.h"

static const double G = 2, C2 = 1;

static double capacitance(double t)
{
    return 1 + (sin(t) + cos(t)) / 4;
}

static double source(double t)
{
    return 4 * sin(t) + sin(2 * t) / 4;
}

static int charges(double t, const double *x, double *d, void *user)
{
    (void)user;
    d[0] = capacitance(t) * x[0];
    d[1] = C2 * (x[1] - x[0]);
    return DAE_OK;
}

static int residual(double t, const double *x, const double *ddot, double *r, void *user)
{
    (void)user;
    r[0] = ddot[0] - ddot[1] + G * x[0];
    r[1] = ddot[1] - x[2];
    r[2] = x[1] - source(t);
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *ddot, double *K, void *user)
{
    (void)t, (void)x, (void)ddot, (void)user;
    K[0 + 0 * 3] = G;
    K[1 + 2 * 3] = -1;
    K[2 + 1 * 3] = 1;
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *x, const double *ddot, double *C, void *user)
{
    (void)x, (void)ddot, (void)user;
    C[0 + 0 * 3] = capacitance(t) + C2;
    C[0 + 1 * 3] = -C2;
    C[1 + 0 * 3] = -C2;
    C[1 + 1 * 3] = C2;
    return DAE_OK;
}

static int exact(double t, double *x, void *user)
{
    (void)user;
    x[0] = sin(t) + cos(t);
    x[1] = source(t);
    x[2] = 3 * cos(t) + cos(2 * t) / 2 + sin(t);
    return DAE_OK;
}

static int constraints(double t, const double *x, double *c, void *user)
{
    (void)user;
    c[0] = x[1] - source(t);
    return DAE_OK;
}

static const char *const names[] = { "e1", "e2", "j" };
static const char *const equations[] = { "node 1", "node 2", "voltage source" };
static const char *const constraint_names[] = { "voltage source" };
static const unsigned char level[] = { 0, 0, DAE_INDEX2 };
static const double x0[] = { 1, 0, 3.5 };
static const double ddot0[] = { 1.5, 3.5 }; /* C1 e1 = s + c + (1 + sin 2t)/4; j */

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)form, (void)value;
    dae_problem *p = &out->problem;
    p->size = 3;
    p->residual = residual;
    p->d = charges;
    p->d_size = 2;
    p->jacobian_x = jacobian_x;
    p->jacobian_xdot = jacobian_xdot;
    p->pattern = dense_pattern();
    p->names = names;
    p->equation_names = equations;
    p->level = level;
    out->t1 = 6;
    out->x0 = x0;
    out->xdot0 = ddot0;
    out->index = 2;
    out->exact = exact;
    out->reference_source = "exact solution";
    out->atol_over_rtol = 1;
    out->constraint_count = 1;
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const char *const forms[] = { "leading", NULL };

const problem_entry problem_hmt_47 = {
    .name = "hmt-47",
    .title = "a linear circuit with a time-dependent capacitance, index 2, leading "
             "term",
    .description = "Modified nodal analysis of two capacitors, a resistor and a voltage source "
                   "across which a loop of capacitors closes: the source's current is an index-2 "
                   "unknown. One of the two subspaces that matter moves in time; BDF and "
                   "Runge-Kutta methods stay stable all the same.",
    .source = "Higueras, Maerz, Tischendorf, Numerically well formulated index-2 DAEs, "
              "Example 4.7",
    .forms = forms,
    .build = build,
};
