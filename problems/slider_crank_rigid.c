/* slider_crank_rigid.c: a planar slider-crank mechanism, rigid, free or driven.
 *
 * Crank angle a, angle b of the connecting rod, position x of the slider:
 *
 *     T = (J1 + m2 l1^2) a'^2 / 2 + J2 b'^2 / 2 + m3 x'^2 / 2
 *         + m2 l1 l2 cos(a - b) a' b' / 2,
 *     0 = l1 sin a + l2 sin b,   x = l1 cos a + l2 cos b,   driven: a = Omega t.
 *
 * Free, it is the quadrature t = integral of sqrt(J(a) / 2E) over a, J(a) being the inertia
 * that the crank feels: the end values come from it, with 30 digits.
 * Driven, there is no freedom left: q, v and accelerations follow from t, the multipliers are
 * the forces the motor and the joints must bear (kinematics and inverse dynamics).
 */
#include "mechanical.h"

static const double m2 = 0.151104, m3 = 0.075552, l1 = 0.15, l2 = 0.30, J1 = 0.002727,
                    J2 = 0.0045339259;

typedef struct state {
    mechanical_base base;
    double omega;
    int driven;
    double q[3], v[3], end[9];
} state;

static int mass(double t, const double *q, double *M, void *user)
{
    (void)t, (void)user;
    M[0] = J1 + m2 * l1 * l1;
    M[1] = M[3] = m2 * l1 * l2 * cos(q[0] - q[1]) / 2;
    M[4] = J2;
    M[8] = m3;
    return DAE_OK;
}

static int force(double t, const double *q, const double *v, double *f, void *user)
{
    double k = m2 * l1 * l2 * sin(q[0] - q[1]) / 2;
    (void)t, (void)user;
    f[0] = -k * v[1] * v[1];
    f[1] = k * v[0] * v[0];
    f[2] = 0;
    return DAE_OK;
}

static int constraint(double t, const double *q, double *phi, void *user)
{
    const state *s = user;
    phi[0] = l1 * sin(q[0]) + l2 * sin(q[1]);
    phi[1] = q[2] - l1 * cos(q[0]) - l2 * cos(q[1]);
    if (s->driven) phi[2] = q[0] - s->omega * t;
    return DAE_OK;
}

static int energy(double t, const double *q, const double *v, double *E, void *user)
{
    const state *s = user;
    (void)t;
    *E = (J1 + m2 * l1 * l1) * v[0] * v[0] / 2 + J2 * v[1] * v[1] / 2 + m3 * v[2] * v[2] / 2 +
         m2 * l1 * l2 * cos(q[0] - q[1]) * v[0] * v[1] / 2 - s->base.energy0;
    return DAE_OK;
}

/* The driven motion at t: q, v and, from the equations of motion, lambda. */
static void driven(const state *s, double t, double *out)
{
    double w = s->omega, a = w * t, sb = -l1 / l2 * sin(a), cb = sqrt(1 - sb * sb);
    double b = asin(sb), vb = -l1 * w * cos(a) / (l2 * cb);
    double ab = (l1 * w * w * sin(a) + l2 * sb * vb * vb) / (l2 * cb);
    double vx = -l1 * w * sin(a) - l2 * sb * vb;
    double ax = -l1 * w * w * cos(a) - l2 * cb * vb * vb - l2 * sb * ab;
    double k = m2 * l1 * l2 / 2, f1 = k * cos(a - b) * ab + k * sin(a - b) * vb * vb;
    double f2 = J2 * ab - k * sin(a - b) * w * w; /* a'' = 0 */
    double la2 = m3 * ax, la1 = (f2 - l2 * sb * la2) / (l2 * cb);
    double la3 = f1 - l1 * cos(a) * la1 - l1 * sin(a) * la2;
    const double all[9] = { a, b, l1 * cos(a) + l2 * cb, w, vb, vx, la1, la2, la3 };
    memcpy(out, all, sizeof all);
}

static const double free_end[8] = {
    12.1511500069238063,  0.203089099262032317, 0.431088560743113091, 130.207233389029031,
    -60.8215833790675221, 11.5589187955721914,  129.753930176007957,  -184.622084408924327,
};
static const char *const names[] = { "crank", "rod", "slider" };
static const char *const constraint_names[] = { "height of the slider", "slider at the rod",
                                                "motor" };

static int build(const char *form, const double *value, problem_instance *out)
{
    if (value[0] == 0) return bad_setting(0);
    if (!is_whole(value[1], 0, 1)) return bad_setting(1);
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    s->omega = value[0];
    s->driven = value[1] > 0;
    driven(s, 0, s->end);
    memcpy(s->q, s->end, sizeof s->q);
    memcpy(s->v, s->end + 3, sizeof s->v);
    mechanical_case c = {
        .model = { .coordinates = 3,
                   .constraints = 2 + s->driven,
                   .mass = mass,
                   .force = force,
                   .constraint = constraint,
                   .steady = !s->driven,
                   .energy = s->driven ? NULL : energy,
                   .time_scale = 1 / fabs(s->omega),
                   .names = names,
                   .constraint_names = constraint_names,
                   .user = s },
        .t1 = 15 / fabs(s->omega),
        .q0 = s->q,
        .v0 = s->v,
        .atol_over_rtol = 1,
    };
    if (s->driven) {
        driven(s, c.t1, s->end);
        c.reference = s->end;
        c.reference_source = "closed form: the motor determines the motion";
    }
    if (!s->driven && s->omega == 150) {
        c.reference = free_end;
        c.reference_source = "quadrature of the energy, 30 digits";
    }
    return mechanical_build(&c, form, out);
}

static const problem_setting settings[] = {
    { "omega", 150, "angular velocity of the crank at the start, not 0" },
    { "driven", 0, "1: a motor keeps it constant (a constraint that depends on t); 0: free" },
    { NULL, 0, NULL },
};

const problem_entry problem_slider_crank_rigid = {
    .name = "slider-crank-rigid",
    .title = "a rigid planar slider-crank, running free or driven by a motor",
    .description =
        "Crank, connecting rod and slider without gravity: M(q) q'' = f + phi_q' lambda, "
        "three "
        "coordinates, two constraints, one degree of freedom; the kinetic energy is "
        "constant. "
        "With driven=1 a third constraint, crank = omega t, depends on time and leaves "
        "no "
        "freedom. Derivatives of the constraints are not given: they are found.",
    .source = "the rigid part of slider-crank, B. Simeon 1996; IVP test set, crank",
    .forms = mechanical_forms,
    .settings = settings,
    .build = build,
};
