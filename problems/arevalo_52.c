/* arevalo_52.c: an index-3 system p' = U(q), q' = F + G Lambda, 0 = R(p) with two
 * multipliers, not from mechanics: U is not q and G is not the transpose of R_p.
 *
 *     x' = 2 u        u' = -y + x lambda
 *     y' = v          v' = 2 x + y sin t^2 - 4 y t^2 + 2 y beta
 *     z' = w - 1      w' = 4 z t^2 + sin(t^2)/2 + 2 z lambda + beta
 *     0 = x^2 + y^2 + z^2 - 1      0 = z - 1/2
 *
 * Solution, for any t: x = a cos t^2, y = a sin t^2, z = 1/2, u = -a t sin t^2,
 * v = 2 a t cos t^2, w = 1, lambda = -2 t^2, beta = -sin(t^2)/2, a = sqrt(3)/2.
 * (The source prints -4 y t in v'; with it the solution it gives is none.)
 */
#include "support.h"

enum { x_, y_, z_, u_, v_, w_, la, be, unknowns };

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    double tt = t * t, s = sin(tt);
    r[0] = xdot[x_] - 2 * x[u_];
    r[1] = xdot[y_] - x[v_];
    r[2] = xdot[z_] - x[w_] + 1;
    r[3] = xdot[u_] + x[y_] - x[x_] * x[la];
    r[4] = xdot[v_] - 2 * x[x_] - x[y_] * (s - 4 * tt + 2 * x[be]);
    r[5] = xdot[w_] - 4 * x[z_] * tt - s / 2 - 2 * x[z_] * x[la] - x[be];
    r[6] = x[x_] * x[x_] + x[y_] * x[y_] + x[z_] * x[z_] - 1;
    r[7] = x[z_] - 0.5;
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)xdot, (void)user;
    const int n = unknowns;
    double tt = t * t, s = sin(tt);
    K[0 + u_ * n] = -2;
    K[1 + v_ * n] = K[2 + w_ * n] = -1;
    K[3 + x_ * n] = -x[la];
    K[3 + y_ * n] = 1;
    K[3 + la * n] = -x[x_];
    K[4 + x_ * n] = -2;
    K[4 + y_ * n] = -(s - 4 * tt + 2 * x[be]);
    K[4 + be * n] = -2 * x[y_];
    K[5 + z_ * n] = -4 * tt - 2 * x[la];
    K[5 + la * n] = -2 * x[z_];
    K[5 + be * n] = -1;
    K[6 + x_ * n] = 2 * x[x_];
    K[6 + y_ * n] = 2 * x[y_];
    K[6 + z_ * n] = 2 * x[z_];
    K[7 + z_ * n] = 1;
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
    double a = sqrt(3) / 2, tt = t * t, s = sin(tt), c = cos(tt);
    x[x_] = a * c;
    x[y_] = a * s;
    x[z_] = 0.5;
    x[u_] = -a * t * s;
    x[v_] = 2 * a * t * c;
    x[w_] = 1;
    x[la] = -2 * tt;
    x[be] = -0.5 * s;
    return DAE_OK;
}

static int constraints(double t, const double *x, double *c, void *user)
{
    (void)t, (void)user;
    c[0] = x[x_] * x[x_] + x[y_] * x[y_] + x[z_] * x[z_] - 1;
    c[1] = x[z_] - 0.5;
    c[2] = 2 * x[x_] * x[u_] + x[y_] * x[v_] + x[z_] * (x[w_] - 1);
    c[3] = x[w_] - 1;
    return DAE_OK;
}

static const char *const names[] = { "x", "y", "z", "u", "v", "w", "lambda", "beta" };
static const char *const equations[] = { "x' = 2 u", "y' = v", "z' = w - 1", "u'",
                                         "v'",       "w'",     "sphere",     "plane" };
static const char *const constraint_names[] = { "sphere", "plane", "sphere, velocity",
                                                "plane, velocity" };
static const unsigned char level[] = { 0,          0,          0,          DAE_INDEX2,
                                       DAE_INDEX2, DAE_INDEX2, DAE_INDEX3, DAE_INDEX3 };

typedef struct state {
    double x0[unknowns], xdot0[unknowns];
} state;

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)form, (void)value;
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    double a = sqrt(3) / 2, sine = sin(1), cosine = cos(1), *x = s->x0, *dot = s->xdot0;
    exact(1, x, NULL);
    dot[x_] = 2 * x[u_];
    dot[y_] = x[v_];
    dot[z_] = x[w_] - 1;
    dot[u_] = -a * (sine + 2 * cosine);
    dot[v_] = 2 * a * (cosine - 2 * sine);
    dot[la] = -4;
    dot[be] = -cosine;
    dae_problem *p = &out->problem;
    p->size = unknowns;
    p->residual = residual;
    p->jacobian_x = jacobian_x;
    p->jacobian_xdot = jacobian_xdot;
    p->pattern = dense_pattern();
    p->names = names;
    p->equation_names = equations;
    p->level = level;
    out->t0 = 1;
    out->t1 = 2;
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

const problem_entry problem_arevalo_52 = {
    .name = "arevalo-52",
    .title = "two multipliers, index 3, not from mechanics: p' = U(q), q' = F + G Lambda",
    .description =
        "A point on the sphere x^2 + y^2 + z^2 = 1 in the plane z = 1/2, with U "
        "different "
        "from q and G different from the transpose of R_p. From exact initial values at "
        "t = 1 implicit Euler makes an error of 2.4 in lambda in its first step, however "
        "small.",
    .source = "Arevalo, Electron. Trans. Numer. Anal. 34 (2008), Problem 5.2, with -4 y t^2 "
              "in F for the printed -4 y t",
    .forms = forms,
    .build = build,
};
