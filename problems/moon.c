/* moon.c: the restricted three-body problem: a spaceship between Earth and Moon.
 *
 * In coordinates that rotate with both bodies, the centre of mass at the origin, Earth at
 * (-mu, 0), Moon at (1 - mu, 0), their distance and the angular velocity 1:
 *
 *     y1'' = y1 + 2 y2' - (1 - mu) (y1 + mu) / r1^3 - mu (y1 - 1 + mu) / r2^3
 *     y2'' = y2 - 2 y1' - (1 - mu) y2 / r1^3        - mu y2 / r2^3
 *
 * Jacobi's integral J = (|y'|^2 - |y|^2) / 2 - (1 - mu) / r1 - mu / r2 is constant. The unit of
 * length is 384400 km, that of time 4.34 days: the Earth's radius is 0.0166, the Moon's 0.0045.
 *
 * The launch: from (-mu/2, 0.1) with y2' = 4 and a choice of y1'.
 */
#include "daedalus/invariants.h"
#include "support.h"

typedef struct state {
    double mu;
    double J0;
    double x0[5], xdot0[5];
    dae_invariants *v;
} state;

static int rhs(double t, const double *x, double *f, void *user)
{
    (void)t;
    const state *s = user;
    double a = x[0] + s->mu, b = a - 1, y = x[1];
    double r1 = hypot(a, y), r2 = hypot(b, y);
    double m1 = (1 - s->mu) / (r1 * r1 * r1), m2 = s->mu / (r2 * r2 * r2);
    f[0] = x[2];
    f[1] = x[3];
    f[2] = x[0] + 2 * x[3] - m1 * a - m2 * b;
    f[3] = y - 2 * x[2] - m1 * y - m2 * y;
    return DAE_OK;
}

static int jacobian(double t, const double *x, const double *xdot, double *J, void *user)
{
    (void)t, (void)xdot;
    const state *s = user;
    double a = x[0] + s->mu, b = a - 1, y = x[1];
    double r1 = hypot(a, y), r2 = hypot(b, y);
    double m1 = (1 - s->mu) / (r1 * r1 * r1), m2 = s->mu / (r2 * r2 * r2);
    double n1 = 3 * m1 / (r1 * r1), n2 = 3 * m2 / (r2 * r2);
    J[0 + 2 * 4] = J[1 + 3 * 4] = 1;
    J[2 + 0 * 4] = 1 - m1 - m2 + n1 * a * a + n2 * b * b;
    J[2 + 1 * 4] = J[3 + 0 * 4] = n1 * a * y + n2 * b * y;
    J[3 + 1 * 4] = 1 - m1 - m2 + (n1 + n2) * y * y;
    J[2 + 3 * 4] = 2;
    J[3 + 2 * 4] = -2;
    return DAE_OK;
}

static int jacobi(double t, const double *x, const double *xdot, double *c, void *user)
{
    (void)t, (void)xdot;
    const state *s = user;
    double a = x[0] + s->mu, b = a - 1, y = x[1];
    c[0] = (x[2] * x[2] + x[3] * x[3] - x[0] * x[0] - y * y) / 2 - (1 - s->mu) / hypot(a, y) -
           s->mu / hypot(b, y);
    return DAE_OK;
}

/* The gradient of J: its first half is minus the forces without Coriolis'. */
static int gradient(double t, const double *x, double *C, void *user)
{
    double f[4];
    rhs(t, x, f, user);
    C[0] = -(f[2] - 2 * x[3]);
    C[1] = -(f[3] + 2 * x[2]);
    C[2] = x[2];
    C[3] = x[3];
    return DAE_OK;
}

/* The user of the reformulated problem is the object of the invariants. */
static int change(double t, const double *x, double *c, void *user)
{
    int status = jacobi(t, x, NULL, c, user);
    c[0] -= ((const state *)user)->J0;
    return status;
}

static int change_used(double t, const double *x, double *c, void *user)
{
    dae_invariant_report r;
    int status = dae_invariants_check(user, t, x, &r);
    c[0] = r.error;
    return status;
}

static const char *const names[] = { "y1", "y2", "y1'", "y2'" };
static const char *const constraint_names[] = { "Jacobi's integral, change since the start" };
static const char *const invariant_names[] = { "Jacobi's integral" };
static const unsigned char level[] = { 0, 0, 0, 0 };

static void dispose(problem_instance *p)
{
    dae_invariants_close(p->extra);
}

/* A form that uses the invariant takes the place of the plain problem. */
static int use_invariant(state *s, const char *form, problem_instance *out)
{
    dae_problem plain = out->problem;
    const dae_invariant what = { .problem = &plain,
                                 .count = 1,
                                 .value = jacobi,
                                 .gradient = gradient,
                                 .names = invariant_names,
                                 .user = s };
    out->extra = s->v = dae_invariants_open(&what, &(dae_invariant_use){ .name = form });
    out->dispose = dispose;
    if (dae_invariants_start(s->v, 0, s->x0, s->x0) != DAE_OK) return DAE_E_NOMEM;
    out->problem = *dae_invariants_problem(s->v);
    out->constraints = change_used;
    out->index = out->problem.size > 4 ? 2 : 0;
    return DAE_OK;
}

static int build(const char *form, const double *value, problem_instance *out)
{
    if (!(value[1] > 0 && value[1] <= 0.5)) return bad_setting(1);
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    s->mu = value[1];
    s->x0[0] = -s->mu / 2;
    s->x0[1] = 0.1;
    s->x0[2] = value[0];
    s->x0[3] = 4;
    rhs(0, s->x0, s->xdot0, s);
    jacobi(0, s->x0, NULL, &s->J0, s);
    dae_problem *p = &out->problem;
    p->size = 4;
    p->names = names;
    p->level = level;
    p->pattern = dense_pattern();
    p->rhs = rhs;
    p->jacobian_x = jacobian;
    out->t1 = 2;
    out->x0 = s->x0;
    out->xdot0 = s->xdot0;
    out->atol_over_rtol = 1;
    out->constraint_count = 1;
    out->constraint_names = constraint_names;
    out->constraints = change;
    return strcmp(form, "ode") ? use_invariant(s, form, out) : DAE_OK;
}

static const char *const forms[] = { "projected", "stabilized", "dae", "ode", NULL };
static const problem_setting settings[] = {
    { "speed", 1.4, "y1' at the start" },
    { "mu", 0.01215, "mass of the Moon over that of both" },
    { NULL, 0, NULL },
};

const problem_entry problem_moon = {
    .name = "moon",
    .title = "restricted three-body problem: a spaceship, Earth and Moon",
    .description =
        "A spaceship starts near the Earth; the speed y1' decides whether it comes back, lingers "
        "between the bodies or leaves. It passes close to the Earth's centre, where an "
        "integrator changes Jacobi's integral, and with it the fate of the ship. The forms keep "
        "the integral by projection, by stabilization, as a DAE of index 2, or not (ode).",
    .source = "Daniel, Moore, Computation and Theory in Ordinary Differential Equations, 1970",
    .forms = forms,
    .settings = settings,
    .build = build,
};
