/* transistor_amplifier.c: two transistor stages, eight node potentials, index 1.
 *
 * Kirchhoff's current law at the nodes 1..8, M U' = f(t, U):
 *     C1 (U2' - U1') = (U1 - Ue(t)) / R0
 *     C1 (U1' - U2') = U2 (1/R1 + 1/R2) - Ub/R2 - (alpha - 1) g(U2 - U3)
 *     -C2 U3'        = U3 / R3 - g(U2 - U3)
 *     C3 (U5' - U4') = (U4 - Ub) / R4 + alpha g(U2 - U3)
 *     C3 (U4' - U5') = U5 (1/R5 + 1/R6) - Ub/R6 - (alpha - 1) g(U5 - U6)
 *     -C4 U6'        = U6 / R7 - g(U5 - U6)
 *     C5 (U8' - U7') = (U7 - Ub) / R8 + alpha g(U5 - U6)
 *     C5 (U7' - U8') = U8 / R9
 * with g(v) = beta (exp(v / UF) - 1) and Ue = 0.1 sin(200 pi t). M has rank 5: the
 * sums of the equations 1 + 2, 4 + 5, 7 + 8 are the constraints.
 */
#include "support.h"

enum { n = 8, lower = 2, upper = 1, width = lower + upper + 1 };

static const double Ub = 6, UF = 0.026, alpha = 0.99, beta = 1e-6, R0 = 1000, R = 9000;
static const double C1 = 1e-6, C2 = 2e-6, C3 = 3e-6, C4 = 4e-6, C5 = 5e-6;
static const double omega = 628.31853071795864769; /* 200 pi */

static double g(double v)
{
    return beta * expm1(v / UF);
}

static double dg(double v)
{
    return beta / UF * exp(v / UF);
}

/* Far outside the solution (at most 0.2 V) the exponential overflows: not defined
 * there. */
static int beyond(const double *U)
{
    return U[1] - U[2] > 300 * UF || U[4] - U[5] > 300 * UF;
}

static int rhs(double t, const double *U, double *f, void *user)
{
    (void)user;
    if (beyond(U)) return DAE_RETRY;
    double g1 = g(U[1] - U[2]), g2 = g(U[4] - U[5]);
    f[0] = (U[0] - 0.1 * sin(omega * t)) / R0;
    f[1] = U[1] * (2 / R) - Ub / R - (alpha - 1) * g1;
    f[2] = U[2] / R - g1;
    f[3] = (U[3] - Ub) / R + alpha * g1;
    f[4] = U[4] * (2 / R) - Ub / R - (alpha - 1) * g2;
    f[5] = U[5] / R - g2;
    f[6] = (U[6] - Ub) / R + alpha * g2;
    f[7] = U[7] / R;
    return DAE_OK;
}

static double *entry(double *J, int i, int j)
{
    return &J[upper + i - j + j * width];
}

static int jacobian(double t, const double *U, const double *Udot, double *J, void *user)
{
    (void)t, (void)Udot, (void)user;
    if (beyond(U)) return DAE_RETRY;
    static const double conductance[n] = { 1 / 1000.0, 2 / 9000.0, 1 / 9000.0, 1 / 9000.0,
                                           2 / 9000.0, 1 / 9000.0, 1 / 9000.0, 1 / 9000.0 };
    for (int i = 0; i < n; i++) *entry(J, i, i) = conductance[i];
    for (int base = 1; base < 6; base += 3) { /* base, emitter, collector of a transistor */
        double slope = dg(U[base] - U[base + 1]);
        const double gain[3] = { -(alpha - 1), -1, alpha };
        for (int i = 0; i < 3; i++) {
            *entry(J, base + i, base) += gain[i] * slope;
            *entry(J, base + i, base + 1) -= gain[i] * slope;
        }
    }
    return DAE_OK;
}

/* Charges d_k = C_k (difference of potentials), and what their currents do in each
 * node. */
static int charges(double t, const double *U, double *d, void *user)
{
    (void)t, (void)user;
    d[0] = C1 * (U[1] - U[0]);
    d[1] = C2 * U[2];
    d[2] = C3 * (U[4] - U[3]);
    d[3] = C4 * U[5];
    d[4] = C5 * (U[7] - U[6]);
    return DAE_OK;
}

static const int capacitor[n] = { 0, 0, 1, 2, 2, 3, 4, 4 };
static const double direction[n] = { 1, -1, -1, 1, -1, -1, 1, -1 };

static int leading_residual(double t, const double *U, const double *ddot, double *r, void *user)
{
    int answer = rhs(t, U, r, user);
    if (answer != DAE_OK) return answer;
    for (int i = 0; i < n; i++) r[i] = direction[i] * ddot[capacitor[i]] - r[i];
    return DAE_OK;
}

/* d is linear with constant coefficients: M U' = A (charges(U'))'. */
static int residual(double t, const double *U, const double *Udot, double *r, void *user)
{
    double ddot[5];
    charges(t, Udot, ddot, user);
    return leading_residual(t, U, ddot, r, user);
}

static int jacobian_x(double t, const double *U, const double *Udot, double *K, void *user)
{
    int answer = jacobian(t, U, Udot, K, user);
    negate(K, n * width);
    return answer;
}

static int jacobian_xdot(double t, const double *U, const double *Udot, double *C, void *user)
{
    (void)t, (void)U, (void)Udot, (void)user;
    static const double pair[] = { 1e-6, 3e-6, 5e-6 };
    for (int k = 0; k < 3; k++) { /* -C C / C -C in the nodes i, i + 1 */
        int i = 3 * k;
        *entry(C, i, i) = *entry(C, i + 1, i + 1) = -pair[k];
        *entry(C, i, i + 1) = *entry(C, i + 1, i) = pair[k];
    }
    *entry(C, 2, 2) = -C2;
    *entry(C, 5, 5) = -C4;
    return DAE_OK;
}

/* M in band storage with one diagonal on either side. */
static const double mass[n * 3] = {
    0,    -1e-6, 1e-6, /* column 1: above, diagonal, below */
    1e-6, -1e-6, 0,    /*        2 */
    0,    -2e-6, 0,    /*        3 */
    0,    -3e-6, 3e-6, /*        4 */
    3e-6, -3e-6, 0,    /*        5 */
    0,    -4e-6, 0,    /*        6 */
    0,    -5e-6, 5e-6, /*        7 */
    5e-6, -5e-6, 0,    /*        8 */
};

static int constraints(double t, const double *U, double *c, void *user)
{
    double f[n];
    int answer = rhs(t, U, f, user);
    if (answer != DAE_OK) return answer;
    c[0] = f[0] + f[1];
    c[1] = f[3] + f[4];
    c[2] = f[6] + f[7];
    return DAE_OK;
}

static const char *const names[] = { "U1", "U2", "U3", "U4", "U5", "U6", "U7", "U8" };
static const char *const equations[] = { "node 1", "node 2", "node 3", "node 4",
                                         "node 5", "node 6", "node 7", "node 8" };
static const char *const constraint_names[] = { "currents at nodes 1 + 2",
                                                "currents at nodes 4 + 5",
                                                "currents at nodes 7 + 8" };
static const double x0[n] = { 0, 3, 3, 6, 3, 3, 6, 0 };
static const double reference[n] = {
    -5.5621450122627092e-03, 3.0065224719030419e+00, 2.8499587886081281e+00, 2.9264225362062408e+00,
    2.7046178650105541e+00,  2.7618377783931449e+00, 4.7709276316167717e+00, 1.2369958680915480e+00,
};

typedef struct state {
    double xdot0[n], ddot0[5];
} state;

/* U' at t = 0. U3' and U6' follow from their own equations. No current flows through
 * C1, C3 and C5, so U1' = U2', U4' = U5', U7' = U8', and these common slopes follow
 * from the derivatives of the three constraints. */
static void initial_slopes(state *s)
{
    double slope = dg(0), *U = s->xdot0;
    U[2] = -x0[2] / R / C2;
    U[5] = -x0[5] / R / C4;
    U[0] = U[1] =
        (0.1 * omega / R0 + (1 - alpha) * slope * U[2]) / (1 / R0 + 2 / R + (1 - alpha) * slope);
    U[3] = U[4] = ((1 - alpha) * slope * U[5] - alpha * slope * (U[1] - U[2])) /
                  (3 / R + (1 - alpha) * slope);
    U[6] = U[7] = -alpha * slope * (U[4] - U[5]) / (2 / R);
    charges(0, U, s->ddot0, NULL);
}

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)value;
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    initial_slopes(s);
    dae_problem *p = &out->problem;
    p->size = n;
    p->names = names;
    p->equation_names = equations;
    p->pattern = (dae_pattern){ .kind = DAE_PATTERN_BAND, .lower = lower, .upper = upper };
    out->xdot0 = s->xdot0;
    if (strcmp(form, "mass") == 0) {
        p->rhs = rhs;
        p->mass_kind = DAE_MASS_CONSTANT;
        p->mass_pattern = (dae_pattern){ .kind = DAE_PATTERN_BAND, .lower = 1, .upper = 1 };
        p->mass_values = mass;
        p->jacobian_x = jacobian;
    } else {
        p->residual = residual;
        p->jacobian_x = jacobian_x;
        p->jacobian_xdot = jacobian_xdot;
    }
    if (strcmp(form, "leading") == 0) {
        p->residual = leading_residual;
        p->d = charges;
        p->d_size = 5;
        out->xdot0 = s->ddot0;
    }
    out->t1 = 0.2;
    out->x0 = x0;
    out->index = 1;
    out->reference = reference;
    out->reference_source = "IVP test set 2.4 (Mazzia, Magherini), problem transamp";
    out->atol_over_rtol = 1;
    out->constraint_count = 3;
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const char *const forms[] = { "implicit", "mass", "leading", NULL };

const problem_entry problem_transistor_amplifier = {
    .name = "transistor-amplifier",
    .title = "a two-stage transistor amplifier: singular, not diagonal leading matrix, "
             "index 1",
    .description = "Eight node potentials of two transistor stages that amplify 0.1 sin(200 pi t), "
                   "20 periods (transamp in the test set). The constant tridiagonal matrix in "
                   "front of U' has rank 5: no unknown is algebraic by itself, only sums of "
                   "equations are (so no levels are declared). Time constants from 1e-6 to 1e-2, "
                   "exponentials that overflow far from the solution, and an error estimate that "
                   "looks only at x - prediction is fooled by the algebraic combinations. Form "
                   "leading: the charges of the five capacitors are what is differentiated.",
    .source = "Rentrop, Roche, Steinebach 1989; Hairer, Lubich, Roche 1989; IVP test "
              "set 2.4 (Mazzia, Magherini)",
    .forms = forms,
    .build = build,
};
