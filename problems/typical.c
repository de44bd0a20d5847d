/* typical.c: mechanical systems of index 1, 2 and 3 in the form in which they usually
 * arise: momenta v = M u' as unknowns.
 *
 * index1:  u' = M^-1 v,  v' = -r + f,            r = k(u)           force by definition
 * index2:  u' = M^-1 v,  v' = A'lambda + f,      0 = A(u) M^-1 v    rolling: knife edge
 * index3:  u' = M^-1 v,  v' = phi_u'lambda + f,  0 = phi(u, t)      position
 *
 * Each has a closed solution:
 * index1   a hardening spring, k(u) = k u + c u^3, driven so that u = sin t;
 * index2   the knife edge on a slope, see rolling.c, with theta = w t from rest;
 * index3   a mass on a circle that grows, phi = (u.u - 1 - t^2) / 2, with a spring to its
 *          centre: angular momentum is kept, so theta = l atan t, and
 *          lambda = k + m (1 - l^2) / (1 + t^2)^2.
 */
#include "support.h"

enum { MOST = 7 };

typedef struct state {
    double m, k, c, s, w, J, l;
    double x0[MOST], xdot0[MOST], mass[MOST];
} state;

/* ---- index 1: u, v, r ---- */

static int rhs1(double t, const double *x, double *f, void *user)
{
    const state *p = user;
    double s = sin(t);
    f[0] = x[1] / p->m;
    f[1] = -x[2] + (p->k - p->m) * s + p->c * s * s * s;
    f[2] = x[2] - p->k * x[0] - p->c * x[0] * x[0] * x[0];
    return DAE_OK;
}

static int jacobian1(double t, const double *x, const double *xdot, double *K, void *user)
{
    const state *p = user;
    (void)t, (void)xdot;
    K[0 + 1 * 3] = 1 / p->m;
    K[1 + 2 * 3] = -1;
    K[2 + 2 * 3] = 1;
    K[2 + 0 * 3] = -p->k - 3 * p->c * x[0] * x[0];
    return DAE_OK;
}

static int exact1(double t, double *x, void *user)
{
    const state *p = user;
    x[0] = sin(t);
    x[1] = p->m * cos(t);
    x[2] = p->k * x[0] + p->c * x[0] * x[0] * x[0];
    return DAE_OK;
}

/* ---- index 2: x, y, theta; their momenta; lambda ---- */

static int rhs2(double t, const double *x, double *f, void *user)
{
    const state *p = user;
    double s = sin(x[2]), c = cos(x[2]);
    (void)t;
    f[0] = x[3] / p->m;
    f[1] = x[4] / p->m;
    f[2] = x[5] / p->J;
    f[3] = s * x[6] + p->m * p->s;
    f[4] = -c * x[6];
    f[5] = 0;
    f[6] = (s * x[3] - c * x[4]) / p->m;
    return DAE_OK;
}

static int jacobian2(double t, const double *x, const double *xdot, double *K, void *user)
{
    const state *p = user;
    double s = sin(x[2]), c = cos(x[2]);
    (void)t, (void)xdot;
    K[0 + 3 * 7] = K[1 + 4 * 7] = 1 / p->m;
    K[2 + 5 * 7] = 1 / p->J;
    K[3 + 2 * 7] = c * x[6];
    K[3 + 6 * 7] = s;
    K[4 + 2 * 7] = s * x[6];
    K[4 + 6 * 7] = -c;
    K[6 + 2 * 7] = (c * x[3] + s * x[4]) / p->m;
    K[6 + 3 * 7] = s / p->m;
    K[6 + 4 * 7] = -c / p->m;
    return DAE_OK;
}

static int exact2(double t, double *x, void *user)
{
    const state *p = user;
    double w = p->w, s = sin(w * t), c = cos(w * t);
    x[0] = p->s * s * s / (2 * w * w);
    x[1] = p->s * (w * t - s * c) / (2 * w * w);
    x[2] = w * t;
    x[3] = p->m * p->s * s * c / w;
    x[4] = p->m * p->s * s * s / w;
    x[5] = p->J * w;
    x[6] = -2 * p->m * p->s * s;
    return DAE_OK;
}

/* ---- index 3: u1, u2, v1, v2, lambda ---- */

static int rhs3(double t, const double *x, double *f, void *user)
{
    const state *p = user;
    for (int i = 0; i < 2; i++) {
        f[i] = x[2 + i] / p->m;
        f[2 + i] = x[i] * (x[4] - p->k);
    }
    f[4] = (x[0] * x[0] + x[1] * x[1] - 1 - t * t) / 2;
    return DAE_OK;
}

static int jacobian3(double t, const double *x, const double *xdot, double *K, void *user)
{
    const state *p = user;
    (void)t, (void)xdot;
    for (int i = 0; i < 2; i++) {
        K[i + (2 + i) * 5] = 1 / p->m;
        K[2 + i + i * 5] = x[4] - p->k;
        K[2 + i + 4 * 5] = K[4 + i * 5] = x[i];
    }
    return DAE_OK;
}

static int exact3(double t, double *x, void *user)
{
    const state *p = user;
    double r2 = 1 + t * t, r = sqrt(r2), a = p->l * atan(t), da = p->l / r2, dr = t / r;
    x[0] = r * cos(a);
    x[1] = r * sin(a);
    x[2] = p->m * (dr * cos(a) - r * da * sin(a));
    x[3] = p->m * (dr * sin(a) + r * da * cos(a));
    x[4] = p->k + p->m * (1 - p->l * p->l) / (r2 * r2);
    return DAE_OK;
}

/* Below the given constraint lie phi' and phi''. */
static int hidden3(double t, const double *x, double *c, void *user)
{
    const state *p = user;
    double uu = x[0] * x[0] + x[1] * x[1], vv = x[2] * x[2] + x[3] * x[3];
    c[0] = (uu - 1 - t * t) / 2;
    c[1] = (x[0] * x[2] + x[1] * x[3]) / p->m - t;
    c[2] = uu * (x[4] - p->k) / p->m + vv / (p->m * p->m) - 1;
    return DAE_OK;
}

/* ---- */

typedef struct shape {
    int size, index;
    unsigned char level[MOST];
    const char *names[MOST], *equations[MOST];
    int (*rhs)(double, const double *, double *, void *);
    int (*jacobian)(double, const double *, const double *, double *, void *);
    int (*exact)(double, double *, void *);
} shape;

static const shape shapes[] = {
    { 3,
      1,
      { 0, 0, 1 },
      { "u", "v", "r" },
      { "velocity", "motion", "spring" },
      rhs1,
      jacobian1,
      exact1 },
    { 7,
      2,
      { 0, 0, 0, 0, 0, 0, 2 },
      { "x", "y", "theta", "vx", "vy", "vtheta", "lambda" },
      { "velocity x", "velocity y", "turning", "motion x", "motion y", "torque", "edge" },
      rhs2,
      jacobian2,
      exact2 },
    { 5,
      3,
      { 0, 0, 2, 2, 3 },
      { "u1", "u2", "v1", "v2", "lambda" },
      { "velocity 1", "velocity 2", "motion 1", "motion 2", "circle" },
      rhs3,
      jacobian3,
      exact3 },
};

static int build(const char *form, const double *value, problem_instance *out)
{
    static const char *const hidden[] = { "position", "velocity", "acceleration" };
    for (int i = 0; i < 2; i++)
        if (!(value[i] > 0)) return bad_setting(i);
    state *p = problem_state(out, sizeof *p);
    if (!p) return DAE_E_NOMEM;
    const shape *s = &shapes[form[5] - '1'];
    *p = (state){ .m = value[0], .k = value[1], .c = 3, .s = 2, .w = 1.5, .J = 0.25, .l = 2 };
    for (int i = 0; i < s->size; i++) p->mass[i] = i < s->size - 1;
    s->exact(0, p->x0, p);
    s->rhs(0, p->x0, p->xdot0, p);
    /* r' = (k + 3 c u^2) u'; lambda' from the closed solutions */
    p->xdot0[s->size - 1] = s->index == 1 ? p->k : s->index == 2 ? -2 * p->m * p->s * p->w : 0;
    out->problem = (dae_problem){ .size = s->size,
                                  .rhs = s->rhs,
                                  .mass_kind = DAE_MASS_DIAGONAL,
                                  .mass_values = p->mass,
                                  .jacobian_x = s->jacobian,
                                  .pattern = dense_pattern(),
                                  .level = s->level,
                                  .names = s->names,
                                  .equation_names = s->equations,
                                  .user = p };
    out->t1 = 2;
    out->x0 = p->x0;
    out->xdot0 = p->xdot0;
    out->index = s->index;
    out->exact = s->exact;
    out->reference_source = "closed solution";
    out->atol_over_rtol = 1;
    if (s->index == 3) {
        out->constraint_count = 3;
        out->constraint_names = hidden;
        out->constraints = hidden3;
    }
    return DAE_OK;
}

static const char *const forms[] = { "index1", "index2", "index3", NULL };
static const problem_setting settings[] = {
    { "mass", 2, "mass" },
    { "stiffness", 5, "stiffness of the spring (index1, index3)" },
    { NULL, 0, NULL },
};

const problem_entry problem_typical = {
    .name = "typical",
    .title = "typical mechanical systems of index 1, 2 and 3, in momenta",
    .description = "index1: a nonlinear elastic force as an unknown; index2: a rolling "
                   "constraint; index3: a "
                   "constraint of positions that moves with time. Three problems, each "
                   "with a closed "
                   "solution, to see what the index does to a method.",
    .source = "Mantegazza & Masarati 2012, section 5.2",
    .forms = forms,
    .settings = settings,
    .build = build,
};
