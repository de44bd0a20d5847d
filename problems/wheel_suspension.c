/* wheel_suspension.c: a quarter of a truck: body m1 on spring k1 and damper f, wheel m2
 * on the tyre k2, road z = 0:
 *     m1 y1'' + f (y1' - y2') + k1 (y1 - y2) = 0
 *     m2 y2'' + f (y2' - y1') + k1 (y2 - y1) + k2 (y2 - z) = 0.
 *
 * ode: y1, y2, v1, v2. forces: with the forces of suspension and tyre, in units of 1000
 * (kN), as unknowns: index 1.
 * Linear: the exact solution is exp(A t) x0, by Taylor's series of A t / 2^k and k
 * squarings. The truck of five bodies from which it is taken is the problem
 * `truck`.
 */
#include "support.h"

typedef struct state {
    double m1, m2, k1, k2, f;
    double x0[6], xdot0[6], mass[6];
} state;

#define UNIT 1000.0 /* of forces */

static void forces(const state *p, const double *x, double *spring, double *tyre)
{
    *spring = (p->k1 * (x[0] - x[1]) + p->f * (x[2] - x[3])) / UNIT;
    *tyre = p->k2 * x[1] / UNIT;
}

static int rhs(double t, const double *x, double *f, void *user)
{
    const state *p = user;
    double spring, tyre;
    (void)t;
    forces(p, x, &spring, &tyre);
    f[0] = x[2];
    f[1] = x[3];
    f[2] = -UNIT * spring / p->m1;
    f[3] = UNIT * (spring - tyre) / p->m2;
    return DAE_OK;
}

static int rhs_forces(double t, const double *x, double *f, void *user)
{
    const state *p = user;
    double spring, tyre;
    (void)t;
    forces(p, x, &spring, &tyre);
    f[0] = x[2];
    f[1] = x[3];
    f[2] = -UNIT * x[4] / p->m1;
    f[3] = UNIT * (x[4] - x[5]) / p->m2;
    f[4] = x[4] - spring;
    f[5] = x[5] - tyre;
    return DAE_OK;
}

static int jacobian(double t, const double *x, const double *xdot, double *K, void *user)
{
    const state *p = user;
    const double spring[4] = { p->k1, -p->k1, p->f, -p->f };
    (void)t, (void)x, (void)xdot;
    K[0 + 2 * 4] = K[1 + 3 * 4] = 1;
    for (int j = 0; j < 4; j++) {
        K[2 + j * 4] = -spring[j] / p->m1;
        K[3 + j * 4] = (spring[j] - (j == 1 ? p->k2 : 0)) / p->m2;
    }
    return DAE_OK;
}

static int jacobian_forces(double t, const double *x, const double *xdot, double *K, void *user)
{
    const state *p = user;
    const double spring[4] = { p->k1, -p->k1, p->f, -p->f };
    (void)t, (void)x, (void)xdot;
    K[0 + 2 * 6] = K[1 + 3 * 6] = K[4 + 4 * 6] = K[5 + 5 * 6] = 1;
    K[2 + 4 * 6] = -UNIT / p->m1;
    K[3 + 4 * 6] = UNIT / p->m2;
    K[3 + 5 * 6] = -UNIT / p->m2;
    for (int j = 0; j < 4; j++) K[4 + j * 6] = -spring[j] / UNIT;
    K[5 + 1 * 6] = -p->k2 / UNIT;
    return DAE_OK;
}

static int exact(double t, double *x, void *user)
{
    const state *p = user;
    double E[16] = { 0 }, P[16], Q[16], column[4];
    int halvings = 0;
    while (ldexp(fabs(t), -halvings) * (p->k2 / p->m2 + p->f / p->m2) > 1 && halvings < 60)
        halvings++;
    double h = ldexp(t, -halvings);
    for (int j = 0; j < 4; j++) { /* column j: Taylor's series of exp(A h) e_j */
        double term[4] = { 0 };
        term[j] = E[j + 4 * j] = 1;
        for (int k = 1; k < 30; k++) {
            rhs(0, term, column, user);
            for (int i = 0; i < 4; i++) {
                term[i] = column[i] * h / k;
                E[i + 4 * j] += term[i];
            }
        }
    }
    for (int k = 0; k < halvings; k++) {
        memcpy(P, E, sizeof P);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                Q[i + 4 * j] = 0;
                for (int l = 0; l < 4; l++) Q[i + 4 * j] += P[i + 4 * l] * P[l + 4 * j];
            }
        memcpy(E, Q, sizeof E);
    }
    for (int i = 0; i < 4; i++) {
        x[i] = 0;
        for (int j = 0; j < 4; j++) x[i] += E[i + 4 * j] * p->x0[j];
    }
    return DAE_OK;
}

static int exact_forces(double t, double *x, void *user)
{
    exact(t, x, user);
    forces(user, x, &x[4], &x[5]);
    return DAE_OK;
}

static int build(const char *form, const double *value, problem_instance *out)
{
    static const char *const names[] = { "y1", "y2", "v1", "v2", "suspension", "tyre" };
    static const char *const equations[] = { "velocity 1", "velocity 2", "body",
                                             "wheel",      "suspension", "tyre" };
    static const unsigned char level[] = { 0, 0, 0, 0, 1, 1 };
    for (int i = 0; i < 4; i++)
        if (!(value[i] > 0)) return bad_setting(i);
    if (!(value[4] >= 0)) return bad_setting(4);
    state *p = problem_state(out, sizeof *p);
    if (!p) return DAE_E_NOMEM;
    *p = (state){ .m1 = value[0],
                  .m2 = value[1],
                  .k1 = value[2],
                  .k2 = value[3],
                  .f = value[4],
                  .x0 = { -0.05, 0, 0, 0 },
                  .mass = { 1, 1, 1, 1, 0, 0 } };
    int with_forces = strcmp(form, "forces") == 0;
    forces(p, p->x0, &p->x0[4], &p->x0[5]);
    rhs(0, p->x0, p->xdot0, p);
    forces(p, p->xdot0, &p->xdot0[4], &p->xdot0[5]); /* linear: their rates */
    out->problem = (dae_problem){ .size = with_forces ? 6 : 4,
                                  .rhs = with_forces ? rhs_forces : rhs,
                                  .jacobian_x = with_forces ? jacobian_forces : jacobian,
                                  .pattern = dense_pattern(),
                                  .names = names,
                                  .equation_names = equations,
                                  .user = p };
    if (with_forces) {
        out->problem.mass_kind = DAE_MASS_DIAGONAL;
        out->problem.mass_values = p->mass;
        out->problem.level = level;
    }
    out->t1 = 2;
    out->x0 = p->x0;
    out->xdot0 = p->xdot0;
    out->index = with_forces;
    out->reference_source = "exact solution";
    out->exact = with_forces ? exact_forces : exact;
    out->atol_over_rtol = 0.1;
    return DAE_OK;
}

static const char *const forms[] = { "ode", "forces", NULL };
static const problem_setting settings[] = {
    { "body", 500, "mass m1 of the truck on this wheel" },
    { "wheel", 50, "mass m2 of the wheel" },
    { "spring", 7500, "stiffness k1 of the suspension" },
    { "tyre", 150000, "stiffness k2 of the tyre" },
    { "damper", 2250, "damping f of the suspension" },
    { NULL, 0, NULL },
};

const problem_entry problem_wheel_suspension = {
    .name = "wheel-suspension",
    .title = "wheel suspension of a truck: two masses, spring, damper and tyre",
    .description = "Linear, damped, a little stiff. Let go with the body pressed down by 5 cm. "
                   "As an ODE, or with the forces as unknowns, of index 1.",
    .source = "Matko, Karba, Zupancic 1992, p. 45",
    .forms = forms,
    .settings = settings,
    .build = build,
};
