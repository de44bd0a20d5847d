/* vanderpol.c: the van der Pol oscillator in three scalings, and its limit, a DAE.
 *
 * One trajectory, y(0) = 2 at rest, in the units of each form (mu = 1/sqrt(eps)):
 *     ode     time s, y'' = mu (1 - y^2) y' - y      x = (y, dy/ds)
 *     scaled  time t = s / mu, z = dy/dt = mu dy/ds
 *             z' = mu^2 ((1 - y^2) z - y)            x = (y, z)
 *     spp     the same, eps z' = (1 - y^2) z - y     x = (y, z)
 *     limit   eps = 0: 0 = (1 - y^2) z - y           x = (y, z), z(0) = -2/3
 * so x of the ode form at s is (y, z / mu) of the others at t = s / mu.
 *
 * The limit has y' (1 - y^2) = y, hence ln y - y^2 / 2 = t + ln 2 - 2, until y = 1 at
 * t = 3/2 - ln 2 = 0.8068...: there z becomes infinite and no solution continues (an
 * impasse point; the oscillator jumps).
 */
#include "support.h"

typedef struct state {
    double mu;
    double mass[2];
    double x0[2], xdot0[2], reference[2];
} state;

/* f = (z, damping (1 - y^2) z - spring y) covers all forms. */
static int evaluate(const double *x, double damping, double spring, double *f)
{
    f[0] = x[1];
    f[1] = damping * (1 - x[0] * x[0]) * x[1] - spring * x[0];
    return DAE_OK;
}

static int differentiate(const double *x, double damping, double spring, double *J)
{
    J[0 + 1 * 2] = 1;
    J[1 + 0 * 2] = -2 * damping * x[0] * x[1] - spring;
    J[1 + 1 * 2] = damping * (1 - x[0] * x[0]);
    return DAE_OK;
}

static int ode_rhs(double t, const double *x, double *f, void *user)
{
    (void)t;
    const state *s = user;
    return evaluate(x, s->mu, 1, f);
}

static int ode_jacobian(double t, const double *x, const double *xdot, double *J, void *user)
{
    (void)t, (void)xdot;
    const state *s = user;
    return differentiate(x, s->mu, 1, J);
}

static int scaled_rhs(double t, const double *x, double *f, void *user)
{
    (void)t;
    const state *s = user;
    return evaluate(x, s->mu * s->mu, s->mu * s->mu, f);
}

static int scaled_jacobian(double t, const double *x, const double *xdot, double *J, void *user)
{
    (void)t, (void)xdot;
    const state *s = user;
    return differentiate(x, s->mu * s->mu, s->mu * s->mu, J);
}

static int spp_rhs(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    return evaluate(x, 1, 1, f);
}

static int spp_jacobian(double t, const double *x, const double *xdot, double *J, void *user)
{
    (void)t, (void)xdot, (void)user;
    return differentiate(x, 1, 1, J);
}

/* Newton on ln y - y^2/2 - (t + ln 2 - 2), concave and falling for y > 1: from y = 2 the
 * iterates fall monotonically to the root. */
static int limit_exact(double t, double *x, void *user)
{
    (void)user;
    const double ln2 = 0.69314718055994530942;
    if (!(t < 1.5 - ln2)) return DAE_STOP;
    double y = 2;
    for (int i = 0; i < 60; i++) {
        double step = (log(y) - y * y / 2 - (t + ln2 - 2)) / (1 / y - y);
        y -= step;
        if (fabs(step) <= 1e-16 * y) break;
    }
    x[0] = y;
    x[1] = y / (1 - y * y);
    return DAE_OK;
}

static int limit_constraints(double t, const double *x, double *c, void *user)
{
    (void)t, (void)user;
    c[0] = (1 - x[0] * x[0]) * x[1] - x[0];
    return DAE_OK;
}

static const char *const names[] = { "y", "z" };
static const char *const constraint_names[] = { "slow manifold" };
static const unsigned char ode_level[] = { 0, 0 }, limit_level[] = { 0, DAE_ALGEBRAIC };

static void build_limit(state *s, problem_instance *out)
{
    s->mass[1] = 0;
    s->x0[1] = -2.0 / 3;
    s->xdot0[0] = -2.0 / 3;
    s->xdot0[1] = -10.0 / 27; /* z' = z (1 + y^2) / (1 - y^2)^2 */
    out->t1 = 0.75;
    out->index = 1;
    out->reference = NULL;
    out->reference_source = "exact (implicit) solution";
    out->exact = limit_exact;
    out->constraint_count = 1;
    out->constraint_names = constraint_names;
    out->constraints = limit_constraints;
    out->problem.level = limit_level;
}

static int build(const char *form, const double *value, problem_instance *out)
{
    double mu = value[0];
    if (!(mu > 0 && mu <= 1e8)) return bad_setting(0);
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    *s = (state){ .mu = mu, .mass = { 1, 1 / (mu * mu) }, .x0 = { 2, 0 } };
    s->xdot0[1] = -2 * mu * mu;
    s->reference[0] = 1.7061677321704829e+00;
    s->reference[1] = -8.9280970102479751e-01;
    dae_problem *p = &out->problem;
    p->size = 2;
    p->names = names;
    p->level = ode_level;
    p->pattern = dense_pattern();
    out->t1 = 2;
    out->x0 = s->x0;
    out->xdot0 = s->xdot0;
    out->atol_over_rtol = 1;
    if (mu == 1000) {
        out->reference = s->reference;
        out->reference_source = "IVP test set 2.4 (Mazzia, Magherini), problem vdpol";
    }
    p->rhs = scaled_rhs;
    p->jacobian_x = scaled_jacobian;
    if (strcmp(form, "ode") == 0) {
        p->rhs = ode_rhs;
        p->jacobian_x = ode_jacobian;
        s->xdot0[1] = -2;
        s->reference[1] /= mu;
        out->t1 = 2 * mu;
    } else if (strcmp(form, "scaled") != 0) {
        p->rhs = spp_rhs;
        p->jacobian_x = spp_jacobian;
        p->mass_kind = DAE_MASS_DIAGONAL;
        p->mass_values = s->mass;
        if (strcmp(form, "limit") == 0) build_limit(s, out);
    }
    return DAE_OK;
}

static const char *const forms[] = { "scaled", "spp", "ode", "limit", NULL };
static const problem_setting settings[] = {
    { "mu", 1000, "damping; eps = 1/mu^2 (not used by the form limit)" },
    { NULL, 0, NULL },
};

const problem_entry problem_vanderpol = {
    .name = "vanderpol",
    .title = "van der Pol's oscillator: relaxation oscillations, three scalings and "
             "the limit",
    .description = "y'' = mu (1 - y^2) y' - y from y = 2 at rest. Form ode: in its own time s up "
                   "to 2 mu, x = (y, dy/ds). Form scaled: t = s/mu, z = dy/dt, z' = mu^2 ((1 - "
                   "y^2) z - y). Form spp: the same as eps z' = (1 - y^2) z - y with eps = 1/mu^2. "
                   "Form limit: eps = 0, a DAE of index 1, started on its manifold and ended "
                   "before the impasse point y = 1 at t = 3/2 - ln 2. Slow drifts are broken by "
                   "jumps whose speed grows with mu.",
    .source = "van der Pol 1926; Hairer & Wanner 1996, IV.1 and VI.1; IVP test set 2.4 "
              "(Mazzia, Magherini)",
    .forms = forms,
    .settings = settings,
    .build = build,
};
