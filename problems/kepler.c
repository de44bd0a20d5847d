/* kepler.c: two bodies, an ellipse of eccentricity e, period 2 pi.
 *
 *     q'' = -q / |q|^3,    x = (q1, q2, v1, v2),
 *
 * from the pericentre (1 - e, 0) with speed sqrt((1 + e) / (1 - e)). With E - e sin E = t:
 * q = (cos E - e, sqrt(1 - e^2) sin E). Energy -1/2 and angular momentum sqrt(1 - e^2) are kept.
 */
#include "support.h"

typedef struct state {
    double e, side; /* side: sqrt(1 - e^2) */
    double x0[4], xdot0[4];
} state;

static int rhs(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    double r2 = x[0] * x[0] + x[1] * x[1], r3 = r2 * sqrt(r2);
    f[0] = x[2];
    f[1] = x[3];
    f[2] = -x[0] / r3;
    f[3] = -x[1] / r3;
    return DAE_OK;
}

static int jacobian(double t, const double *x, const double *xdot, double *J, void *user)
{
    (void)t, (void)xdot, (void)user;
    double r2 = x[0] * x[0] + x[1] * x[1], r3 = r2 * sqrt(r2), r5 = r3 * r2;
    J[0 + 2 * 4] = J[1 + 3 * 4] = 1;
    J[2 + 0 * 4] = 3 * x[0] * x[0] / r5 - 1 / r3;
    J[2 + 1 * 4] = J[3 + 0 * 4] = 3 * x[0] * x[1] / r5;
    J[3 + 1 * 4] = 3 * x[1] * x[1] / r5 - 1 / r3;
    return DAE_OK;
}

/* Newton's iteration for E, which converges from E = pi for every e < 1. */
static double eccentric_anomaly(double t, double e)
{
    const double pi = 3.14159265358979323846;
    double turns = floor(t / (2 * pi)), M = t - 2 * pi * turns, E = pi;
    for (int i = 0; i < 100; i++) {
        double change = (E - e * sin(E) - M) / (1 - e * cos(E));
        E -= change;
        if (fabs(change) < 1e-15) break;
    }
    return E;
}

static int exact(double t, double *x, void *user)
{
    const state *s = user;
    double E = eccentric_anomaly(t, s->e), rate = 1 / (1 - s->e * cos(E));
    x[0] = cos(E) - s->e;
    x[1] = s->side * sin(E);
    x[2] = -sin(E) * rate;
    x[3] = s->side * cos(E) * rate;
    return DAE_OK;
}

static int constraints(double t, const double *x, double *c, void *user)
{
    (void)t;
    const state *s = user;
    c[0] = (x[2] * x[2] + x[3] * x[3]) / 2 - 1 / hypot(x[0], x[1]) + 0.5;
    c[1] = x[0] * x[3] - x[1] * x[2] - s->side;
    return DAE_OK;
}

static const char *const names[] = { "q1", "q2", "v1", "v2" };
static const char *const constraint_names[] = { "energy", "angular momentum" };
static const unsigned char level[] = { 0, 0, 0, 0 };

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)form;
    if (!(value[0] >= 0 && value[0] < 1)) return bad_setting(0);
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    s->e = value[0];
    s->side = sqrt((1 - s->e) * (1 + s->e));
    s->x0[0] = 1 - s->e;
    s->x0[3] = sqrt((1 + s->e) / (1 - s->e));
    rhs(0, s->x0, s->xdot0, s);
    dae_problem *p = &out->problem;
    p->size = 4;
    p->names = names;
    p->level = level;
    p->pattern = dense_pattern();
    p->rhs = rhs;
    p->jacobian_x = jacobian;
    out->t1 = 10;
    out->x0 = s->x0;
    out->xdot0 = s->xdot0;
    out->exact = exact;
    out->reference_source = "exact solution";
    out->atol_over_rtol = 1;
    out->constraint_count = 2;
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const char *const forms[] = { "ode", NULL };
static const problem_setting settings[] = {
    { "e", 0.5, "eccentricity, from 0 below 1" },
    { NULL, 0, NULL },
};

const problem_entry problem_kepler = {
    .name = "kepler",
    .title = "Kepler's problem: two bodies on an ellipse, not stiff",
    .description =
        "The acceleration is -q/|q|^3; the solution is known through Kepler's equation. Near "
        "the pericentre everything is fast, so the step must vary: the more, the larger the "
        "eccentricity. Energy and angular momentum show how a method drifts.",
    .source = "class D of DETEST: Hull, Enright, Fellen, Sedgwick, SIAM J. Numer. Anal. 9 "
              "(1972) 603",
    .forms = forms,
    .settings = settings,
    .build = build,
};
