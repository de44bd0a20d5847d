/* arevalo_51.c: a point driven round the unit circle, index 3.
 *
 *     x' = u      u' =  2 y + x lambda
 *     y' = v      v' = -2 x + y lambda      0 = x^2 + y^2 - 1
 *
 * With s = (1 + t)^2 the solution is x = sin s, y = cos s, u = 2 (1 + t) cos s,
 * v = -2 (1 + t) sin s, lambda = -4 s. The acceleration has a part normal to the circle, so
 * exact initial values are not consistent with the difference equations of implicit Euler:
 * lambda is wrong by 2 after the first step, whatever its size.
 */
#include "support.h"

enum { px, py, vx, vy, la, unknowns };

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t, (void)user;
    r[0] = xdot[px] - x[vx];
    r[1] = xdot[py] - x[vy];
    r[2] = xdot[vx] - 2 * x[py] - x[px] * x[la];
    r[3] = xdot[vy] + 2 * x[px] - x[py] * x[la];
    r[4] = x[px] * x[px] + x[py] * x[py] - 1;
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)xdot, (void)user;
    const int n = unknowns;
    K[0 + vx * n] = K[1 + vy * n] = -1;
    K[2 + px * n] = K[3 + py * n] = -x[la];
    K[2 + py * n] = -2;
    K[3 + px * n] = 2;
    K[2 + la * n] = -x[px];
    K[3 + la * n] = -x[py];
    K[4 + px * n] = 2 * x[px];
    K[4 + py * n] = 2 * x[py];
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    for (int i = 0; i < la; i++) C[i + i * unknowns] = 1;
    return DAE_OK;
}

static int exact(double t, double *x, void *user)
{
    (void)user;
    double w = 1 + t, s = w * w;
    x[px] = sin(s);
    x[py] = cos(s);
    x[vx] = 2 * w * cos(s);
    x[vy] = -2 * w * sin(s);
    x[la] = -4 * s;
    return DAE_OK;
}

static int constraints(double t, const double *x, double *c, void *user)
{
    (void)t, (void)user;
    double pp = x[px] * x[px] + x[py] * x[py], vv = x[vx] * x[vx] + x[vy] * x[vy];
    c[0] = pp - 1;
    c[1] = x[px] * x[vx] + x[py] * x[vy];
    c[2] = vv + pp * x[la];
    return DAE_OK;
}

static const char *const names[] = { "x", "y", "u", "v", "lambda" };
static const char *const equations[] = { "x' = u", "y' = v", "force in x", "force in y", "circle" };
static const char *const constraint_names[] = { "position", "velocity", "acceleration" };
static const unsigned char level[] = { 0, 0, DAE_INDEX2, DAE_INDEX2, DAE_INDEX3 };

typedef struct state {
    double x0[unknowns], xdot0[unknowns];
} state;

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)form, (void)value;
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    double *x = s->x0;
    exact(0, x, NULL);
    s->xdot0[px] = x[vx];
    s->xdot0[py] = x[vy];
    s->xdot0[vx] = 2 * x[py] + x[px] * x[la];
    s->xdot0[vy] = -2 * x[px] + x[py] * x[la];
    s->xdot0[la] = -8;
    dae_problem *p = &out->problem;
    p->size = unknowns;
    p->residual = residual;
    p->jacobian_x = jacobian_x;
    p->jacobian_xdot = jacobian_xdot;
    p->pattern = dense_pattern();
    p->names = names;
    p->equation_names = equations;
    p->level = level;
    out->t1 = 1;
    out->x0 = s->x0;
    out->xdot0 = s->xdot0;
    out->index = 3;
    out->exact = exact;
    out->reference_source = "exact solution";
    out->atol_over_rtol = 1;
    out->constraint_count = COUNT(constraint_names);
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const char *const forms[] = { "implicit", NULL };

const problem_entry problem_arevalo_51 = {
    .name = "arevalo-51",
    .title = "a point driven round the circle, index 3: the first step of implicit Euler",
    .description = "x'' = 2 y + x lambda, y'' = -2 x + y lambda on x^2 + y^2 = 1 with the solution "
                   "x = sin (1+t)^2, y = cos (1+t)^2, lambda = -4 (1+t)^2. From exact initial "
                   "values implicit Euler makes an error of 2 in lambda in its first step, however "
                   "small; 'daedalus init arevalo-51 --fixed-step 1e-3' predicts it and gives the "
                   "velocities that avoid it.",
    .source = "Arevalo, Electron. Trans. Numer. Anal. 34 (2008), Problem 5.1",
    .forms = forms,
    .build = build,
};
