/* rolling.c: three non-holonomic classics with closed solutions, on a plane that is
 * inclined along x (acceleration s = g sin(slope)).
 *
 * rolling-disc: x' = R phi' on a line. It looks non-holonomic and is not: it integrates
 *     to x = R phi + const, and the disc has one degree of freedom also in position.
 * rolling-coin: upright coin, heading theta, x' = R phi' cos theta, y' = R phi' sin theta.
 *     With theta = w t, k = s / (1 + J / (m R^2)), u = R phi': u = u0 + k sin(w t) / w,
 *     x = u0 sin(wt) / w + k sin^2(wt) / (2 w^2),
 *     y = u0 (1 - cos(wt)) / w + k (wt - sin(wt) cos(wt)) / (2 w^2).
 * knife-edge: x' sin theta = y' cos theta; with theta = w t from rest a cycloid,
 *     x = s sin^2(wt) / (2 w^2),  y = s (wt - sin(wt) cos(wt)) / (2 w^2),
 *     lambda = -2 m s sin(wt): it does not go down the plane in the end. (The constraint
 *     put into the Lagrangian, the vakonomic motion, gives another one.)
 */
#include "mechanical.h"

typedef struct state {
    mechanical_base base;
    double s, R, w, u0;
    double mass[4];
    double q[4], v[4], end[10];
} state;

static int pull(double t, const double *q, const double *v, double *f, void *user)
{
    const state *p = user;
    (void)t, (void)q, (void)v;
    f[0] = p->mass[0] * p->s;
    f[1] = 0; /* disc: phi; the others: y */
    return DAE_OK;
}

static int pull_3(double t, const double *q, const double *v, double *f, void *user)
{
    f[2] = 0;
    return pull(t, q, v, f, user);
}

static int pull_4(double t, const double *q, const double *v, double *f, void *user)
{
    f[3] = 0;
    return pull_3(t, q, v, f, user);
}

static int roll_disc(double t, const double *q, double *A, double *b, void *user)
{
    const state *p = user;
    (void)t, (void)q, (void)b;
    A[0] = 1;
    A[1] = -p->R;
    return DAE_OK;
}

static int roll_coin(double t, const double *q, double *A, double *b, void *user)
{
    const state *p = user;
    (void)t, (void)b;
    A[0 + 0 * 2] = A[1 + 1 * 2] = 1;
    A[0 + 3 * 2] = -p->R * cos(q[2]);
    A[1 + 3 * 2] = -p->R * sin(q[2]);
    return DAE_OK;
}

static int roll_knife(double t, const double *q, double *A, double *b, void *user)
{
    (void)t, (void)b, (void)user;
    A[0] = sin(q[2]);
    A[1] = -cos(q[2]);
    return DAE_OK;
}

static double energy_of(const state *p, int n, const double *q, const double *v)
{
    double E = -p->mass[0] * p->s * q[0] - p->base.energy0;
    for (int i = 0; i < n; i++) E += p->mass[i] * v[i] * v[i] / 2;
    return E;
}

static int energy_disc(double t, const double *q, const double *v, double *E, void *user)
{
    (void)t;
    *E = energy_of(user, 2, q, v);
    return DAE_OK;
}

static int energy_knife(double t, const double *q, const double *v, double *E, void *user)
{
    (void)t;
    *E = energy_of(user, 3, q, v);
    return DAE_OK;
}

static int energy_coin(double t, const double *q, const double *v, double *E, void *user)
{
    (void)t;
    *E = energy_of(user, 4, q, v);
    return DAE_OK;
}

/* ---- closed solutions at t: q, v, lambda ---- */

static void end_disc(const state *p, double t, double *out)
{
    double ratio = p->mass[1] / (p->mass[0] * p->R * p->R), a = p->s / (1 + ratio);
    double x = p->u0 * t + a * t * t / 2, u = p->u0 + a * t;
    const double all[5] = { x, x / p->R, u, u / p->R, p->mass[0] * (a - p->s) };
    memcpy(out, all, sizeof all);
}

static void end_coin(const state *p, double t, double *out)
{
    double w = p->w, k = p->s / (1 + p->mass[3] / (p->mass[0] * p->R * p->R));
    double c = cos(w * t), s = sin(w * t), u = p->u0 + k * s / w, du = k * c;
    double x = p->u0 * s / w + k * s * s / (2 * w * w);
    double y = p->u0 * (1 - c) / w + k * (w * t - s * c) / (2 * w * w);
    double phi = (p->u0 * t + k * (1 - c) / (w * w)) / p->R;
    double ax = du * c - u * w * s, ay = du * s + u * w * c;
    const double all[10] = {
        x, y, w * t, phi, u * c, u * s, w, u / p->R, p->mass[0] * (ax - p->s), p->mass[0] * ay
    };
    memcpy(out, all, sizeof all);
}

static void end_knife(const state *p, double t, double *out)
{
    double w = p->w, c = cos(w * t), s = sin(w * t), k = p->s / (2 * w * w);
    const double all[7] = {
        k * s * s, k * (w * t - s * c),       w * t, 2 * k * w * s * c, 2 * k * w * s * s,
        w,         -2 * p->mass[0] * p->s * s
    };
    memcpy(out, all, sizeof all);
}

static int finish(state *p, const dae_mechanical *model, const char *form, double t1,
                  void (*end)(const state *, double, double *), problem_instance *out)
{
    int n = model->coordinates;
    mechanical_case c = { .model = *model,
                          .t1 = t1,
                          .q0 = p->q,
                          .v0 = p->v,
                          .reference = p->end,
                          .reference_source = "closed solution",
                          .atol_over_rtol = 1 };
    end(p, 0, p->end);
    memcpy(p->v, p->end + n, (size_t)n * sizeof(double));
    end(p, t1, p->end);
    c.model.mass_diagonal = p->mass;
    c.model.user = p;
    return mechanical_build(&c, form, out);
}

static int build_disc(const char *form, const double *value, problem_instance *out)
{
    for (int k = 1; k < 3; k++)
        if (!(value[k] > 0)) return bad_setting(k);
    state *p = problem_state(out, sizeof *p);
    if (!p) return DAE_E_NOMEM;
    *p = (state){ .s = value[0], .R = value[1], .u0 = value[3], .mass = { 1, value[2] } };
    static const char *const names[] = { "x", "phi" };
    static const char *const rolls[] = { "rolling" };
    dae_mechanical model = { .coordinates = 2,
                             .rolling = 1,
                             .force = pull,
                             .roll = roll_disc,
                             .energy = energy_disc,
                             .names = names,
                             .constraint_names = rolls };
    return finish(p, &model, form, 2, end_disc, out);
}

static int build_coin(const char *form, const double *value, problem_instance *out)
{
    for (int k = 1; k < 5; k++)
        if (!(value[k] > 0)) return bad_setting(k);
    state *p = problem_state(out, sizeof *p);
    if (!p) return DAE_E_NOMEM;
    *p = (state){ .s = value[0],
                  .R = value[1],
                  .w = value[4],
                  .u0 = value[5],
                  .mass = { 1, 1, value[3], value[2] } };
    static const char *const names[] = { "x", "y", "theta", "phi" };
    static const char *const rolls[] = { "rolling in x", "rolling in y" };
    dae_mechanical model = { .coordinates = 4,
                             .rolling = 2,
                             .force = pull_4,
                             .roll = roll_coin,
                             .energy = energy_coin,
                             .names = names,
                             .constraint_names = rolls };
    return finish(p, &model, form, 3, end_coin, out);
}

static int build_knife(const char *form, const double *value, problem_instance *out)
{
    for (int k = 1; k < 3; k++)
        if (!(value[k] > 0)) return bad_setting(k);
    state *p = problem_state(out, sizeof *p);
    if (!p) return DAE_E_NOMEM;
    *p = (state){ .s = value[0], .w = value[2], .mass = { 1, 1, value[1] } };
    static const char *const names[] = { "x", "y", "theta" };
    static const char *const rolls[] = { "edge" };
    dae_mechanical model = { .coordinates = 3,
                             .rolling = 1,
                             .force = pull_3,
                             .roll = roll_knife,
                             .energy = energy_knife,
                             .names = names,
                             .constraint_names = rolls };
    return finish(p, &model, form, 3, end_knife, out);
}

static const problem_setting disc_settings[] = {
    { "slope", 2, "acceleration g sin(slope) down the plane" },
    { "radius", 0.5, "radius R" },
    { "inertia", 0.125, "moment of inertia J; the mass is 1" },
    { "speed", 1, "initial velocity" },
    { NULL, 0, NULL },
};
static const problem_setting coin_settings[] = {
    { "slope", 2, "acceleration g sin(slope) down the plane" },
    { "radius", 0.5, "radius R" },
    { "inertia", 0.125, "moment of inertia J about the axle; the mass is 1" },
    { "turning_inertia", 0.0625, "moment of inertia about the vertical diameter" },
    { "omega", 1.5, "rate at which the heading turns" },
    { "speed", 1, "initial velocity" },
    { NULL, 0, NULL },
};
static const problem_setting knife_settings[] = {
    { "slope", 2, "acceleration g sin(slope) down the plane" },
    { "inertia", 0.25, "moment of inertia; the mass is 1" },
    { "omega", 1.5, "rate at which the blade turns" },
    { NULL, 0, NULL },
};

#define SOURCE "Neimark & Fufaev 1972; Bloch 2003, ch. 1"
const problem_entry problem_rolling_disc = {
    .name = "rolling-disc",
    .title = "a disc rolling down a line: a constraint of velocities that is holonomic",
    .description = "x' = R phi' given as a constraint of velocities, with its multiplier, the "
                   "friction. It integrates to x = R phi + const; nevertheless all forms work.",
    .source = SOURCE,
    .forms = mechanical_forms,
    .settings = disc_settings,
    .build = build_disc,
};
const problem_entry problem_rolling_coin = {
    .name = "rolling-coin",
    .title = "an upright coin rolling on an inclined plane: non-holonomic",
    .description = "x' = R phi' cos theta, y' = R phi' sin theta: two constraints that do not "
                   "integrate. The heading turns steadily, the coin drifts across the slope.",
    .source = SOURCE,
    .forms = mechanical_forms,
    .settings = coin_settings,
    .build = build_coin,
};
const problem_entry problem_knife_edge = {
    .name = "knife-edge",
    .title = "a knife edge on an inclined plane: non-holonomic, a cycloid",
    .description = "x' sin theta = y' cos theta. From rest, turning steadily, the edge describes "
                   "a cycloid across the slope and never gets further down than once.",
    .source = SOURCE,
    .forms = mechanical_forms,
    .settings = knife_settings,
    .build = build_knife,
};
