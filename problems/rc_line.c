/* rc_line.c: a line of resistors with a capacitor and a diode at every node, any length.
 *
 *     node 1         0 = (e(t) - v_1) / Rs + (v_2 - v_1) / R               driven end
 *     node i         C_i v_i' = (v_{i-1} - 2 v_i + v_{i+1}) / R - I(v_i)
 *     node n         C_n v_n' = (v_{n-1} - v_n) / R - I(v_n)               open end
 *     I(v) = Is (exp(v / Vt) - 1),   e(t) = E sin(2 pi t / T)
 * Every tenth node (10, 20, ...) has no capacitor: C_i = 0, an algebraic unknown.
 *
 * R C = 1 us and t1 = 50 us: what the source does has diffused about sqrt(2 t1 / R C)
 * = 10 nodes, and node 100 sees 1e-20 of it. So the solution, and the work of a solver
 * whose norm looks at the worst unknown, does not depend on the length, while an
 * average over 1e5 nodes hides everything that happens in the first thirty. In each of
 * the five periods the diodes there clamp the positive half wave at about 0.6 V: they
 * switch within about T Vt / E of the period.
 */
#include "support.h"

#include <stdio.h>

enum { most_nodes = 1000000, most_named = 10000, name_length = 16, fewest_nodes = 3 };

static const double R = 1e3, Rs = 50, C = 1e-9, Is = 1e-12, Vt = 0.026, E = 2, T = 1e-5;
static const double pi = 3.14159265358979323846;

typedef struct state {
    int n;
} state;

/* i counts from 0 here */
static double capacity(int i)
{
    return i == 0 || (i + 1) % 10 == 0 ? 0 : C;
}

static int residual(double t, const double *v, const double *vdot, double *r, void *user)
{
    int n = ((const state *)user)->n;
    r[0] = (v[0] - E * sin(2 * pi * t / T)) / Rs + (v[0] - v[1]) / R;
    for (int i = 1; i < n; i++) {
        if (v[i] > 200 * Vt)
            return DAE_RETRY; /* the exponential is about to overflow: 5 V on a diode */
        double out = i + 1 < n ? v[i] - v[i + 1] : 0;
        r[i] = capacity(i) * vdot[i] + (v[i] - v[i - 1] + out) / R + Is * expm1(v[i] / Vt);
    }
    return DAE_OK;
}

/* d r_i / d v_i */
static double diagonal(int i, int n, const double *v)
{
    if (i == 0) return 1 / Rs + 1 / R;
    return (i + 1 < n ? 2 : 1) / R + Is / Vt * exp(v[i] / Vt);
}

/* Both layouts store column j as above, diagonal, below; the band has two unused
 * places. */
static int band_jacobian_x(double t, const double *v, const double *vdot, double *K, void *user)
{
    (void)t, (void)vdot;
    int n = ((const state *)user)->n;
    for (int j = 0; j < n; j++) {
        if (j > 0) K[3 * j] = -1 / R;
        K[3 * j + 1] = diagonal(j, n, v);
        if (j + 1 < n) K[3 * j + 2] = -1 / R;
    }
    return DAE_OK;
}

static int band_jacobian_xdot(double t, const double *v, const double *vdot, double *M, void *user)
{
    (void)t, (void)v, (void)vdot;
    int n = ((const state *)user)->n;
    for (int j = 0; j < n; j++) M[3 * j + 1] = capacity(j);
    return DAE_OK;
}

/* Sparse: the place "above" of column 1 does not exist, hence the - 1. */
static int sparse_jacobian_x(double t, const double *v, const double *vdot, double *K, void *user)
{
    (void)t, (void)vdot;
    int n = ((const state *)user)->n;
    for (int j = 0; j < n; j++) {
        if (j > 0) K[3 * j - 1] = -1 / R;
        K[3 * j] = diagonal(j, n, v);
        if (j + 1 < n) K[3 * j + 1] = -1 / R;
    }
    return DAE_OK;
}

static int sparse_jacobian_xdot(double t, const double *v, const double *vdot, double *M,
                                void *user)
{
    (void)t, (void)v, (void)vdot;
    int n = ((const state *)user)->n;
    for (int j = 0; j < n; j++) M[3 * j] = capacity(j);
    return DAE_OK;
}

static void fill_pattern(int n, int64_t *start, int *row)
{
    int64_t k = 0;
    for (int j = 0; j < n; j++) {
        start[j] = k;
        for (int i = j - 1; i <= j + 1; i++)
            if (i >= 0 && i < n) row[k++] = i;
    }
    start[n] = k;
}

/* The nodes 1 .. 100 at t1, computed for a line of 100: Radau IIA with five stages,
 * step errors of 1e-10, 1e-11 and 1e-12 agree to 1e-14. Longer lines differ by less
 * than 1e-18, and beyond node 100 they are at rest to within 1e-18. */
static const double first_nodes[] = {
    -3.004112732062887e-02, -6.308636737330152e-01, -6.390476966088436e-01, -4.595713683701470e-01,
    -2.830806252124828e-01, -1.663883428919908e-01, -1.051799938626636e-01, -7.824234561915817e-02,
    -6.715415456822692e-02, -6.160314067356282e-02, -5.605212768535738e-02, -5.010883294813667e-02,
    -4.339112691876777e-02, -3.643765062978258e-02, -2.986091942586407e-02, -2.405334258203752e-02,
    -1.917017172780505e-02, -1.520657705908163e-02, -1.207862729793898e-02, -9.677849222436277e-03,
    -7.277071457734400e-03, -5.390614837395071e-03, -3.926112121659896e-03, -2.805210565493688e-03,
    -1.961738218213775e-03, -1.339918978357669e-03, -8.930914603086180e-04, -5.828177924069573e-04,
    -3.781562975894576e-04, -2.549401665889815e-04, -1.317240453459804e-04, -5.361602811715200e-05,
    -6.794630321921085e-06, 1.900728026036336e-05,  3.122683156168002e-05,  3.510412743210729e-05,
    3.421408369544155e-05,  3.089757574093037e-05,  2.659897661598752e-05,  2.212069031269707e-05,
    1.764240486056443e-05,  1.367214748634630e-05,  1.034337074609001e-05,  7.665512751399654e-06,
    5.581992142734887e-06,  4.007458676026316e-06,  2.850384582908958e-06,  2.025670746277078e-06,
    1.460729736112894e-06,  1.097507107883425e-06,  7.342845218666582e-07,  4.849807854564888e-07,
    3.163754672608224e-07,  2.039597976420803e-07,  1.300554062522580e-07,  8.217355389062980e-08,
    5.166891767160722e-08,  3.268515484429322e-08,  2.136117493955075e-08,  1.525655311659022e-08,
    9.151931880420365e-09,  5.432673001660547e-09,  3.191809911436808e-09,  1.856481054818818e-09,
    1.069514984923730e-09,  6.110724021441446e-10,  3.476419129727046e-10,  1.993892229407916e-10,
    1.196405640807968e-10,  8.231115299238615e-11,  4.498174506978908e-11,  2.435270971819238e-11,
    1.306289952864163e-11,  6.943498206320623e-12,  3.658470543310123e-12,  1.912577787603850e-12,
    9.954976703981628e-13,  5.226269390149229e-13,  2.897908002821721e-13,  1.935125597160535e-13,
    9.723432659272580e-14,  4.844118546708816e-14,  2.392927546715766e-14,  1.172217856926664e-14,
    5.695623700982740e-15,  2.746820019861646e-15,  1.318684019126626e-15,  6.383225882152853e-16,
    3.286909831952782e-16,  2.141622601085932e-16,  9.963354525891815e-17,  4.598646733968766e-17,
    2.105942360371140e-17,  9.569823318767106e-18,  4.316721028766921e-18,  1.935947022274569e-18,
    8.703188088964357e-19,  4.085914775082408e-19,  2.368942504417412e-19,  2.368942413304242e-19,
};

static int allocate(int n, int sparse, problem_instance *out, block *b)
{
    size_t count = (size_t)n, named = n <= most_named ? count : 0;
    int answer = problem_block(out,
                               &(block_plan){ .state = sizeof(state),
                                              .doubles = 3 * count,
                                              .starts = sparse ? count + 1 : 0,
                                              .rows = sparse ? 3 * count : 0,
                                              .levels = 2 * count,
                                              .names = named,
                                              .text = named * name_length },
                               b);
    if (answer == DAE_OK && named) out->problem.names = b->names;
    return answer;
}

static void fill_nodes(int n, block *b, const problem_instance *out)
{
    double *vdot0 = b->doubles + n, *reference = vdot0 + n;
    unsigned char *counted = b->levels + n;
    /* v = 0 at the start: zeroed memory */
    vdot0[0] = 2 * pi / T * E * R / (R + Rs); /* all else is at rest: v_2' = 0 */
    for (int i = 0; i < n; i++) {
        b->levels[i] = capacity(i) > 0 ? DAE_DIFFERENTIAL : DAE_ALGEBRAIC;
        reference[i] = i < COUNT(first_nodes) ? first_nodes[i] : 0;
        counted[i] = fabs(reference[i]) > 1e-4;
        if (!out->problem.names) continue;
        char *text = b->text + (size_t)i * name_length;
        snprintf(text, name_length, "v[%d]", i + 1);
        b->names[i] = text;
    }
}

static int build(const char *form, const double *value, problem_instance *out)
{
    if (!is_whole(value[0], fewest_nodes, most_nodes)) return bad_setting(0);
    int n = (int)value[0], sparse = strcmp(form, "sparse") == 0;
    block b;
    int answer = allocate(n, sparse, out, &b);
    if (answer != DAE_OK) return answer;
    ((state *)b.state)->n = n;
    fill_nodes(n, &b, out);
    dae_problem *p = &out->problem;
    p->size = n;
    p->level = b.levels;
    p->residual = residual;
    if (sparse) {
        fill_pattern(n, b.starts, b.rows);
        p->pattern = (dae_pattern){ .kind = DAE_PATTERN_SPARSE, .start = b.starts, .row = b.rows };
        p->jacobian_x = sparse_jacobian_x;
        p->jacobian_xdot = sparse_jacobian_xdot;
    } else {
        p->pattern = (dae_pattern){ .kind = DAE_PATTERN_BAND, .lower = 1, .upper = 1 };
        p->jacobian_x = band_jacobian_x;
        p->jacobian_xdot = band_jacobian_xdot;
    }
    out->t1 = 5 * T;
    out->x0 = b.doubles;
    out->xdot0 = b.doubles + n;
    out->index = 1;
    if (n >= COUNT(first_nodes)) {
        out->reference = b.doubles + 2 * (size_t)n;
        out->reference_source = "Radau IIA of order 9, steps refined until 12 digits agreed";
        out->counted = b.levels + n; /* nodes 1 .. 31: the others are below 0.1 mV */
    }
    out->atol_over_rtol = 1e-3;
    return DAE_OK;
}

static const char *const forms[] = { "band", "sparse", NULL };
static const problem_setting settings[] = {
    { "nodes", 100, "length of the line, 3 to 1000000" },
    { NULL, 0, NULL },
};

const problem_entry problem_rc_line = {
    .name = "rc-line",
    .title = "a line of resistors, capacitors and diodes of any length, driven at one "
             "end",
    .description = "Node voltages with C v_i' = (v_{i-1} - 2 v_i + v_{i+1})/R - Is (exp(v_i/Vt) - "
                   "1); every tenth node has no capacitor, the driven end is a sine source of 2 V "
                   "behind 50 ohm. Five periods, in each of which the diodes near the source "
                   "switch; the signal never gets beyond about node 60. A solver whose norm is a "
                   "maximum does the same steps for 100 and for 1000000 nodes; a root mean square "
                   "over a long line does not see the front any more. Forms: band matrix, sparse "
                   "matrix.",
    .source = "made for this collection",
    .forms = forms,
    .settings = settings,
    .build = build,
};
