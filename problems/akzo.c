/* akzo.c: a chemical process of Akzo Nobel, index 1.
 *
 *     r1 = k1 y1^4 sqrt(y2)   r2 = k2 y3 y4   r3 = (k2 / K) y1 y5   r4 = k3 y1 y4^2
 *     r5 = k4 y6^2 sqrt(y2)   Fin = klA (p / H - y2)
 *     0 = Ks y1 y4 - y6
 */
#include "support.h"

static const double k1 = 18.7, k2 = 0.58, k3 = 0.09, k4 = 0.42, K = 34.4, klA = 3.3, Ks = 115.83,
                    pCO2 = 0.9, H = 737;

static int rhs(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    if (y[1] < 0) return DAE_RETRY; /* a concentration under a root */
    double root = sqrt(y[1]);
    double r1 = k1 * y[0] * y[0] * y[0] * y[0] * root;
    double r2 = k2 * y[2] * y[3];
    double r3 = k2 / K * y[0] * y[4];
    double r4 = k3 * y[0] * y[3] * y[3];
    double r5 = k4 * y[5] * y[5] * root;
    double inflow = klA * (pCO2 / H - y[1]);
    f[0] = -2 * r1 + r2 - r3 - r4;
    f[1] = -0.5 * r1 - r4 - 0.5 * r5 + inflow;
    f[2] = r1 - r2 + r3;
    f[3] = -r2 + r3 - 2 * r4;
    f[4] = r2 - r3 + r5;
    f[5] = Ks * y[0] * y[3] - y[5];
    return DAE_OK;
}

/* stoichiometry[i][q]: what reaction q adds to f_i */
static const double stoichiometry[5][5] = {
    { -2, 1, -1, -1, 0 }, { -0.5, 0, 0, -1, -0.5 }, { 1, -1, 1, 0, 0 },
    { 0, -1, 1, -2, 0 },  { 0, 1, -1, 0, 1 },
};

static int jacobian(double t, const double *y, const double *ydot, double *J, void *user)
{
    (void)t, (void)ydot, (void)user;
    if (y[1] <= 0) return DAE_RETRY;
    double root = sqrt(y[1]), cube = y[0] * y[0] * y[0];
    const double slope[5][6] = {
        /* d r_q / d y_j */
        { 4 * k1 * cube * root, 0.5 * k1 * cube * y[0] / root, 0, 0, 0, 0 },
        { 0, 0, k2 * y[3], k2 * y[2], 0, 0 },
        { k2 / K * y[4], 0, 0, 0, k2 / K * y[0], 0 },
        { k3 * y[3] * y[3], 0, 0, 2 * k3 * y[0] * y[3], 0, 0 },
        { 0, 0.5 * k4 * y[5] * y[5] / root, 0, 0, 0, 2 * k4 * y[5] * root },
    };
    for (int j = 0; j < 6; j++)
        for (int i = 0; i < 5; i++) {
            double sum = 0;
            for (int q = 0; q < 5; q++) sum += stoichiometry[i][q] * slope[q][j];
            J[i + j * 6] = sum;
        }
    J[1 + 1 * 6] -= klA;
    J[5 + 0 * 6] = Ks * y[3];
    J[5 + 3 * 6] = Ks * y[0];
    J[5 + 5 * 6] = -1;
    return DAE_OK;
}

static int residual(double t, const double *y, const double *ydot, double *r, void *user)
{
    int answer = rhs(t, y, r, user);
    if (answer != DAE_OK) return answer;
    for (int i = 0; i < 5; i++) r[i] = ydot[i] - r[i];
    r[5] = -r[5];
    return DAE_OK;
}

static int jacobian_x(double t, const double *y, const double *ydot, double *Kx, void *user)
{
    int answer = jacobian(t, y, ydot, Kx, user);
    negate(Kx, 36);
    return answer;
}

static int jacobian_xdot(double t, const double *y, const double *ydot, double *C, void *user)
{
    (void)t, (void)y, (void)ydot, (void)user;
    for (int i = 0; i < 5; i++) C[i + i * 6] = 1;
    return DAE_OK;
}

static int constraints(double t, const double *y, double *c, void *user)
{
    (void)t, (void)user;
    c[0] = Ks * y[0] * y[3] - y[5];
    return DAE_OK;
}

static const char *const names[] = { "FLB", "CO2", "FLBT", "ZHU", "ZLA", "FLB.ZHU" };
static const char *const constraint_names[] = { "equilibrium of FLB.ZHU" };
static const unsigned char level[] = { 0, 0, 0, 0, 0, DAE_ALGEBRAIC };
static const double mass[] = { 1, 1, 1, 1, 1, 0 };
static const double reference[] = {
    1.1507949206617020e-01, 1.2038314715677150e-03, 1.6115628874079740e-01,
    3.6561564212492828e-04, 1.7080108852644039e-02, 4.8735313103074546e-03,
};

typedef struct state {
    double x0[6], xdot0[6];
} state;

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)value;
    state *s = problem_state(out, sizeof *s);
    if (!s) return DAE_E_NOMEM;
    *s = (state){ .x0 = { 0.444, 0.00123, 0, 0.007, 0, Ks * 0.444 * 0.007 } };
    rhs(0, s->x0, s->xdot0, NULL);
    s->xdot0[5] = Ks * (s->xdot0[0] * s->x0[3] + s->x0[0] * s->xdot0[3]);
    dae_problem *p = &out->problem;
    p->size = 6;
    p->names = names;
    p->level = level;
    p->pattern = dense_pattern();
    if (strcmp(form, "mass") == 0) {
        p->rhs = rhs;
        p->mass_kind = DAE_MASS_DIAGONAL;
        p->mass_values = mass;
        p->jacobian_x = jacobian;
    } else {
        p->residual = residual;
        p->jacobian_x = jacobian_x;
        p->jacobian_xdot = jacobian_xdot;
    }
    out->t1 = 180;
    out->x0 = s->x0;
    out->xdot0 = s->xdot0;
    out->index = 1;
    out->reference = reference;
    out->reference_source = "IVP test set 2.4 (Mazzia, Magherini), problem chemakzo";
    out->atol_over_rtol = 1;
    out->constraint_count = 1;
    out->constraint_names = constraint_names;
    out->constraints = constraints;
    return DAE_OK;
}

static const char *const forms[] = { "mass", "implicit", NULL };

const problem_entry problem_akzo = {
    .name = "akzo",
    .title = "a chemical process of Akzo Nobel: five reactions, one equilibrium, index "
             "1",
    .description = "Two species, FLB and ZHU, are mixed while carbon dioxide flows in (chemakzo in "
                   "the test set). Five balances and the equilibrium Ks FLB ZHU = FLB.ZHU. "
                   "Reaction rates contain sqrt(CO2): a negative concentration is refused and the "
                   "solver asked for a smaller step.",
    .source = "W. J. H. Stortelder 1998; IVP test set 2.4 (Mazzia, Magherini)",
    .forms = forms,
    .build = build,
};
