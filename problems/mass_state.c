/* mass_state.c: M(x) x' = f(t, x) with a matrix that depends strongly on the state.
 *
 *     M(x) = ( 1 + kappa x1^2        x2       )
 *            (      x1         1 + kappa x2^2 )
 *     f = M(s) s' + s - x,   s(t) = (sin t, cos t): solution x = s
 *
 * The derivative of M(x) x' with respect to x has entries 2 kappa x_i x_i' (about 20
 * where x_i = 0.1, with M_ii = 2): a Newton matrix c M + f_x that leaves it out fails
 * again and again on a smooth solution (tests/integrate/test_forms.c counts, and has a sharper
 * case where the term decides).
 */
#include "support.h"

typedef struct state {
    double kappa;
} state;

static int mass(double t, const double *x, double *M, void *user)
{
    (void)t;
    double kappa = ((const state *)user)->kappa;
    M[0 + 0 * 2] = 1 + kappa * x[0] * x[0];
    M[0 + 1 * 2] = x[1];
    M[1 + 0 * 2] = x[0];
    M[1 + 1 * 2] = 1 + kappa * x[1] * x[1];
    return DAE_OK;
}

static int rhs(double t, const double *x, double *f, void *user)
{
    double M[4] = { 0 };
    const double s[] = { sin(t), cos(t) }, sdot[] = { cos(t), -sin(t) };
    mass(t, s, M, user);
    for (int i = 0; i < 2; i++) f[i] = M[i] * sdot[0] + M[i + 2] * sdot[1] + s[i] - x[i];
    return DAE_OK;
}

static int jacobian(double t, const double *x, const double *xdot, double *J, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    J[0 + 0 * 2] = -1;
    J[1 + 1 * 2] = -1;
    return DAE_OK;
}

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    double M[4] = { 0 };
    mass(t, x, M, user);
    rhs(t, x, r, user);
    for (int i = 0; i < 2; i++) r[i] = M[i] * xdot[0] + M[i + 2] * xdot[1] - r[i];
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t;
    double kappa = ((const state *)user)->kappa;
    K[0 + 0 * 2] = 1 + 2 * kappa * x[0] * xdot[0];
    K[0 + 1 * 2] = xdot[1];
    K[1 + 0 * 2] = xdot[0];
    K[1 + 1 * 2] = 1 + 2 * kappa * x[1] * xdot[1];
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)xdot;
    return mass(t, x, C, user);
}

static int exact(double t, double *x, void *user)
{
    (void)user;
    x[0] = sin(t);
    x[1] = cos(t);
    return DAE_OK;
}

static const char *const names[] = { "x1", "x2" };
static const unsigned char level[] = { 0, 0 };
static const double x0[] = { 0, 1 }, xdot0[] = { 1, 0 };

static int build(const char *form, const double *value, problem_instance *out)
{
    if (!(value[0] >= 0)) return bad_setting(0);
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    s->kappa = value[0];
    dae_problem *p = &out->problem;
    p->size = 2;
    p->names = names;
    p->level = level;
    p->pattern = dense_pattern();
    if (strcmp(form, "mass") == 0) {
        p->rhs = rhs;
        p->mass_kind = DAE_MASS_FUNCTION;
        p->mass_pattern = dense_pattern();
        p->mass = mass;
        p->jacobian_x = jacobian;
    } else {
        p->residual = residual;
        p->jacobian_x = jacobian_x;
        p->jacobian_xdot = jacobian_xdot;
    }
    out->t1 = 4;
    out->x0 = x0;
    out->xdot0 = xdot0;
    out->exact = exact;
    out->reference_source = "exact solution";
    out->atol_over_rtol = 1;
    return DAE_OK;
}

static const char *const forms[] = { "mass", "implicit", NULL };
static const problem_setting settings[] = {
    { "kappa", 100, "how strongly the matrix depends on the state, >= 0" },
    { NULL, 0, NULL },
};

const problem_entry problem_mass_state = {
    .name = "mass-state",
    .title = "M(x) x' = f with a strongly state-dependent matrix, exact solution",
    .description = "x = (sin t, cos t) with M_ii = 1 + kappa x_i^2. The term d(M(x) x')/dx decides "
                   "whether Newton's iteration converges: solvers that freeze M in their Jacobian "
                   "take far smaller steps or give up. Form implicit: the same with the full "
                   "derivative given.",
    .source = "made for this collection",
    .forms = forms,
    .settings = settings,
    .build = build,
};
