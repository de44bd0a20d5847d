/* chain.c: differentiation as a DAE, of any index nu.
 *
 *     y_i' = y_{i+1},  i = 1 .. nu - 1
 *     0    = y_1 - sin t
 *
 * y_{i+1} is the i-th derivative of sin t. Levels: y_1 is known from the constraint
 * itself and differentiated (0; nu = 1: purely algebraic, 1). y_2 costs one
 * differentiation of the constraint: an index-2 unknown (2). y_3 costs two: 3. Further
 * ones would be of level 4, 5 ...; the highest there is, 3, is declared.
 */
#include "support.h"

enum { longest = 10 };

typedef struct state {
    int nu;
    unsigned char level[longest];
    double x0[longest], xdot0[longest];
} state;

/* the k-th derivative of sin t */
static double sine_derivative(double t, int k)
{
    double value = k % 2 == 0 ? sin(t) : cos(t);
    return k % 4 < 2 ? value : -value;
}

static int residual(double t, const double *y, const double *ydot, double *r, void *user)
{
    const state *s = user;
    for (int i = 0; i + 1 < s->nu; i++) r[i] = ydot[i] - y[i + 1];
    r[s->nu - 1] = y[0] - sin(t);
    return DAE_OK;
}

static int jacobian_x(double t, const double *y, const double *ydot, double *K, void *user)
{
    (void)t, (void)y, (void)ydot;
    const state *s = user;
    for (int i = 0; i + 1 < s->nu; i++) K[i + (i + 1) * s->nu] = -1;
    K[s->nu - 1] = 1;
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *y, const double *ydot, double *C, void *user)
{
    (void)t, (void)y, (void)ydot;
    const state *s = user;
    for (int i = 0; i + 1 < s->nu; i++) C[i + i * s->nu] = 1;
    return DAE_OK;
}

static int exact(double t, double *y, void *user)
{
    const state *s = user;
    for (int i = 0; i < s->nu; i++) y[i] = sine_derivative(t, i);
    return DAE_OK;
}

static int constraints(double t, const double *y, double *c, void *user)
{
    const state *s = user;
    for (int i = 0; i < s->nu; i++) c[i] = y[i] - sine_derivative(t, i);
    return DAE_OK;
}

static const char *const names[longest] = { "y1", "y2", "y3", "y4", "y5",
                                            "y6", "y7", "y8", "y9", "y10" };
static const char *const constraint_names[longest] = {
    "y1 - sin t",          "derivative 1 of sin", "derivative 2 of sin", "derivative 3 of sin",
    "derivative 4 of sin", "derivative 5 of sin", "derivative 6 of sin", "derivative 7 of sin",
    "derivative 8 of sin", "derivative 9 of sin",
};

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)form;
    if (!is_whole(value[0], 1, longest)) return bad_setting(0);
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    s->nu = (int)value[0];
    for (int i = 0; i < s->nu; i++) {
        s->x0[i] = sine_derivative(0, i);
        s->xdot0[i] = sine_derivative(0, i + 1);
        s->level[i] = (unsigned char)(i == 0 ? 0 : i + 1 < DAE_INDEX3 ? i + 1 : DAE_INDEX3);
    }
    if (s->nu == 1) s->level[0] = DAE_ALGEBRAIC;
    dae_problem *p = &out->problem;
    p->size = s->nu;
    p->residual = residual;
    p->jacobian_x = jacobian_x;
    p->jacobian_xdot = jacobian_xdot;
    p->pattern = dense_pattern();
    p->names = names;
    p->level = s->level;
    out->t1 = 2;
    out->x0 = s->x0;
    out->xdot0 = s->xdot0;
    out->index = s->nu;
    out->exact = exact;
    out->reference_source = "exact solution";
    out->atol_over_rtol = 1;
    out->constraint_count = s->nu;
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const char *const forms[] = { "implicit", NULL };
static const problem_setting settings[] = {
    { "nu", 3, "index, 1 to 10" },
    { NULL, 0, NULL },
};

const problem_entry problem_chain = {
    .name = "chain",
    .title = "a chain of derivatives: linear, constant coefficients, index nu",
    .description = "y_i' = y_{i+1} for i < nu and y_1 = sin t: each unknown is the derivative of "
                   "the one before. With constant steps BDF of order k converges with order k, y_i "
                   "after (i - 1) k + 1 steps; with varying steps order is lost with each "
                   "differentiation and y_3 of implicit Euler does not converge at all.",
    .source = "Brenan, Campbell, Petzold 1996, ch. 3",
    .forms = forms,
    .settings = settings,
    .build = build,
};
