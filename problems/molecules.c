/* molecules.c: a cluster of diatomic molecules, as molecular dynamics has it: bonds are
 * rigid rods, atoms of different molecules attract and repel by Lennard-Jones.
 *
 * Atoms 2k and 2k + 1 are molecule k: phi_k = (|r_2k - r_2k+1|^2 - d^2) / 2 = 0, and
 * between atoms of different molecules V = 4 (1/r^12 - 1/r^6), lengths in sigma,
 * energies in epsilon, masses 1. Freezing the bonds is what allows steps that the
 * bonds' vibration would not (Ryckaert, Ciccotti & Berendsen 1977). Energy, momentum
 * and angular momentum are kept; the motion is chaotic, so runs to large t agree in
 * these and not in positions.
 *
 * The molecules start on a cubic lattice at the distance 1.3 with bonds in turn along
 * x, y, z, and velocities without total momentum: enough to shake, not to fly apart.
 */
#include "mechanical.h"

enum { MOST = 8, N_MOST = 6 * MOST };

typedef struct state {
    mechanical_base base;
    int molecules;
    double d;
    double q[N_MOST], v[N_MOST];
} state;

/* 4 (1/r^12 - 1/r^6) and its derivative by r^2. */
static double lennard_jones(double r2, double *slope)
{
    double a = 1 / (r2 * r2 * r2);
    *slope = (-24 * a * a + 12 * a) / r2;
    return 4 * (a * a - a);
}

static double interact(const state *p, const double *q, double *f)
{
    int atoms = 2 * p->molecules;
    double V = 0, slope, r[3];
    for (int i = 0; i < atoms; i++)
        for (int j = 0; j < i - i % 2; j++) { /* atoms of molecules before that of i */
            for (int k = 0; k < 3; k++) r[k] = q[3 * i + k] - q[3 * j + k];
            V += lennard_jones(r[0] * r[0] + r[1] * r[1] + r[2] * r[2], &slope);
            for (int k = 0; k < 3 && f; k++) {
                f[3 * i + k] -= 2 * slope * r[k];
                f[3 * j + k] += 2 * slope * r[k];
            }
        }
    return V;
}

static int force(double t, const double *q, const double *v, double *f, void *user)
{
    const state *p = user;
    (void)t, (void)v;
    memset(f, 0, 6 * (size_t)p->molecules * sizeof *f);
    interact(p, q, f);
    return DAE_OK;
}

static int bonds(double t, const double *q, double *phi, void *user)
{
    const state *p = user;
    (void)t;
    for (int m = 0; m < p->molecules; m++, q += 6) {
        double x = q[3] - q[0], y = q[4] - q[1], z = q[5] - q[2];
        phi[m] = (x * x + y * y + z * z - p->d * p->d) / 2;
    }
    return DAE_OK;
}

static int bonds_q(double t, const double *q, double *G, void *user)
{
    const state *p = user;
    int n = p->molecules;
    (void)t;
    for (int m = 0; m < n; m++)
        for (int k = 0; k < 3; k++) {
            int first = 6 * m + k, second = first + 3;
            G[m + second * n] = q[second] - q[first];
            G[m + first * n] = q[first] - q[second];
        }
    return DAE_OK;
}

static int bonds_bias(double t, const double *q, const double *v, double *bias, void *user)
{
    const state *p = user;
    (void)t, (void)q;
    for (int m = 0; m < p->molecules; m++, v += 6) {
        double x = v[3] - v[0], y = v[4] - v[1], z = v[5] - v[2];
        bias[m] = x * x + y * y + z * z;
    }
    return DAE_OK;
}

static int energy(double t, const double *q, const double *v, double *E, void *user)
{
    const state *p = user;
    (void)t;
    *E = interact(p, q, NULL) - p->base.energy0;
    for (int i = 0; i < 6 * p->molecules; i++) *E += v[i] * v[i] / 2;
    return DAE_OK;
}

/* Translations and rotations. */
static int symmetry(const double *q, double *X, void *user)
{
    const state *p = user;
    int n = 6 * p->molecules;
    for (int atom = 0; atom < 2 * p->molecules; atom++)
        for (int k = 0; k < 3; k++) {
            int next = (k + 1) % 3, last = (k + 2) % 3, at = 3 * atom;
            X[at + k + k * n] = 1;
            X[at + next + (3 + k) * n] = -q[at + last]; /* about axis k */
            X[at + last + (3 + k) * n] = q[at + next];
        }
    return DAE_OK;
}

static void place(state *p, double speed)
{
    int n = p->molecules;
    double mean[3] = { 0 };
    for (int m = 0; m < n; m++)
        for (int k = 0; k < 3; k++) {
            double centre = 1.3 * (m >> k & 1), along = k == m % 3 ? p->d / 2 : 0;
            p->q[6 * m + k] = centre - along;
            p->q[6 * m + 3 + k] = centre + along;
            for (int a = 0; a < 2; a++) {
                double u = speed * sin(1.7 * (2 * m + a) + 2.3 * k + 0.4);
                p->v[6 * m + 3 * a + k] = u;
                mean[k] += u / (2 * n);
            }
        }
    for (int i = 0; i < 6 * n; i++) p->v[i] -= mean[i % 3];
}

static int build(const char *form, const double *value, problem_instance *out)
{
    if (!is_whole(value[0], 2, MOST)) return bad_setting(0);
    if (!(value[1] > 0 && value[1] < 1)) return bad_setting(1);
    state *p = problem_state(out, sizeof *p);
    if (!p) return DAE_E_NOMEM;
    p->molecules = (int)value[0];
    p->d = value[1];
    place(p, value[2]);
    mechanical_case c = { .model = { .coordinates = 6 * p->molecules,
                                     .constraints = p->molecules,
                                     .force = force,
                                     .constraint = bonds,
                                     .constraint_q = bonds_q,
                                     .constraint_bias = bonds_bias,
                                     .steady = 1,
                                     .energy = energy,
                                     .symmetries = 6,
                                     .symmetry = symmetry,
                                     .user = p },
                          .t1 = 1,
                          .q0 = p->q,
                          .v0 = p->v,
                          .atol_over_rtol = 1 };
    return mechanical_build(&c, form, out);
}

static const problem_setting settings[] = {
    { "molecules", 3, "number of molecules, 2 to 8" },
    { "bond", 0.5, "length of the bonds, in sigma" },
    { "speed", 0.4, "size of the initial velocities" },
    { NULL, 0, NULL },
};

const problem_entry problem_molecules = {
    .name = "molecules",
    .title = "a cluster of diatomic molecules with rigid bonds, Lennard-Jones forces",
    .description = "Six coordinates and one bond per molecule. Energy, momentum and angular "
                   "momentum are kept; chaotic over long times.",
    .source = "Ryckaert, Ciccotti, Berendsen 1977; Allen & Tildesley 1987",
    .forms = mechanical_forms,
    .settings = settings,
    .build = build,
};
