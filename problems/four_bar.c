/* four_bar.c: a four-bar linkage of point masses under gravity.
 *
 * Fixed points A = (0, 0), B = (base, 0); joints P and Q with |P - A| = crank, |Q - P| =
 * coupler, |Q - B| = rocker: four coordinates, three constraints, one degree of freedom.
 * If crank + base = coupler + rocker or the like the linkage can lie flat: there the rank
 * of phi_q falls to 2, and the motion may go on as parallelogram or as antiparallelogram.
 */
#include "mechanical.h"

typedef struct state {
    mechanical_base base;
    double ground, length[3], g;
    double q[4], v[4];
} state;

static int force(double t, const double *q, const double *v, double *f, void *user)
{
    const state *s = user;
    (void)t, (void)q, (void)v;
    f[0] = f[2] = 0;
    f[1] = f[3] = -s->g;
    return DAE_OK;
}

static int constraint(double t, const double *q, double *phi, void *user)
{
    const state *s = user;
    const double *l = s->length;
    (void)t;
    double bx = q[2] - q[0], by = q[3] - q[1], cx = q[2] - s->ground;
    phi[0] = (q[0] * q[0] + q[1] * q[1] - l[0] * l[0]) / 2;
    phi[1] = (bx * bx + by * by - l[1] * l[1]) / 2;
    phi[2] = (cx * cx + q[3] * q[3] - l[2] * l[2]) / 2;
    return DAE_OK;
}

static int energy(double t, const double *q, const double *v, double *E, void *user)
{
    const state *s = user;
    (void)t;
    *E = -s->base.energy0 + s->g * (q[1] + q[3]);
    for (int i = 0; i < 4; i++) *E += v[i] * v[i] / 2;
    return DAE_OK;
}

static const char *const names[] = { "Px", "Py", "Qx", "Qy" };
static const char *const constraint_names[] = { "crank", "coupler", "rocker" };

/* Q above the line from P to B; where there is none, a guess on that line. */
static void place(state *s, double angle)
{
    const double *l = s->length;
    double *q = s->q;
    q[0] = l[0] * cos(angle);
    q[1] = l[0] * sin(angle);
    double dx = s->ground - q[0], dy = -q[1], d2 = dx * dx + dy * dy, d = sqrt(d2);
    double along = (l[1] * l[1] - l[2] * l[2] + d2) / (2 * d);
    double height = sqrt(fmax(l[1] * l[1] - along * along, 0));
    q[2] = q[0] + (along * dx - height * dy) / d;
    q[3] = q[1] + (along * dy + height * dx) / d;
}

static int build(const char *form, const double *value, problem_instance *out)
{
    for (int k = 0; k < 4; k++)
        if (!(value[k] > 0)) return bad_setting(k);
    if (value[0] == value[1] && value[2] == value[3] && value[4] == 0)
        return bad_setting(4); /* P = B */
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    s->ground = value[0];
    for (int k = 0; k < 3; k++) s->length[k] = value[1 + k];
    s->g = value[6];
    double angle = value[4] * 3.14159265358979323846 / 180;
    place(s, angle);
    s->v[0] = -value[5] * s->q[1]; /* the rest of v follows from the constraints */
    s->v[1] = value[5] * s->q[0];
    mechanical_case c = {
        .model = { .coordinates = 4,
                   .constraints = 3,
                   .force = force,
                   .constraint = constraint,
                   .steady = 1,
                   .energy = energy,
                   .names = names,
                   .constraint_names = constraint_names,
                   .user = s },
        .t1 = 2,
        .q0 = s->q,
        .v0 = s->v,
        .atol_over_rtol = 1,
    };
    return mechanical_build(&c, form, out);
}

static const problem_setting settings[] = {
    { "base", 2, "distance of the fixed points" },
    { "crank", 1, "length of the crank" },
    { "coupler", 2.5, "length of the coupler" },
    { "rocker", 2.2, "length of the rocker" },
    { "angle", 60, "initial angle of the crank in degrees; not such that P is at B" },
    { "speed", 3, "initial angular velocity of the crank (a guess)" },
    { "g", 9.81, "acceleration of gravity" },
    { NULL, 0, NULL },
};

const problem_entry problem_four_bar = {
    .name = "four-bar",
    .title = "a four-bar linkage; singular where it lies flat",
    .description =
        "Two moving joints with unit masses, three bars, one degree of freedom, given by "
        "quadratic constraints without derivatives. With coupler = base and rocker = "
        "crank "
        "(a parallelogram) the linkage passes flat positions in which constraints are "
        "dependent: started there (angle=0) it is refused, and named.",
    .source = "classical; Haug 1989 for singular positions",
    .forms = mechanical_forms,
    .settings = settings,
    .build = build,
};
