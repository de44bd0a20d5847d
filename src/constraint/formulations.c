/* formulations.c: the same mechanism as problems of index 3, 2, 1 and 0.
 *
 *   index3     q' = v,  M v' = f + W' lambda,  phi = 0 (rolling: A v + b = 0)
 *   index2     the same with W v + rate = 0
 *   index3-acceleration, index2-acceleration
 *              q' = v,  v' = a,  0 = f + W' lambda - M a and the same constraints: more unknowns,
 *              and a leading matrix that is constant whatever M is, for methods that want it so
 *   index1-acceleration  the same with W a + bias = 0: index1 with nothing eliminated, for patterns
 *   index1     the same with lambda = -(W M^-1 W')^-1 (W M^-1 f + bias)
 *   index0     q' = v,  v' = a(t, q, v): the multipliers eliminated
 *   baumgarte  index1 with phi'' + 2 alpha phi' + beta^2 phi = 0 in place of phi'' = 0
 *              (Baumgarte 1972)
 *   ggl        q' = v + phi_q' mu, both phi = 0 and W v + rate = 0 (Gear, Leimkuhler,
 *              Gupta 1985)
 *   ggl-mass   M q' = M v + phi_q' mu: the least correction in kinetic energy
 *   fuehrer-leimkuhler  (Fuehrer, Leimkuhler 1991)
 *              M q' = M v + phi_q' mu + tau^2 (dW/dt)' nu,  M v' = w + W' nu,
 *              w = f + W' lambda,  phi = 0,  W v + rate = 0,  W M^-1 w + bias = 0.
 *              Its index is 2, not 1: mu and nu are multipliers of constraints in
 *              which they do not occur. The term of (dW/dt)'nu is the gradient of W v by q, as
 *              W'nu is that by v: positions and velocities are weighed against each other,
 *              and tau is the unit of time in which that is done. It is not in the source: there
 *              nu is a force over a length in one equation and a mass in the other. With tau = 1
 *              second (dW/dt)'nu, W M^-1 (W'mu + tau^2 (dW/dt)'nu) = 0 tied mu to 1e6 times the
 *              error of nu in Andrews' mechanism, whose motion takes 1e-3 seconds: 641 steps of
 *              radau at 1e-10 where 64 are enough, none below 1e-11. tau is that of differences in t.
 *              w and lambda, which follow from q and v, are declared as of index 2: second
 *              derivatives of constraints that are not given are known to 1e-11.
 *   penalty    (M + p W'W) v' = f - p W' (bias + 2 alpha phi' + beta^2 phi) (Bayo,
 *              Garcia de Jalon, Serna 1988); lambda = -p (phi'' + 2 alpha phi' +
 *              beta^2 phi), so constraints are violated by about lambda / (p beta^2)
 *   augmented-lagrangian  the same with lambda* added and iterated until phi'' + ... =
 *              0: exact, and in need of no regular M; of redundant constraints the independent
 *              combinations (mechanism.h)
 *   maggi-...  maggi.c
 *
 * x = (q, v, w, lambda, mu, nu), what is there of them; rows in the same order.
 */
#include "constraint/sparse.h"
#include "linear/lapack.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

/* f(t, q, v, lambda) + W' lambda with m->W set */
static int total_force(dae_mechanism *m, double t, const double *q, const double *v,
                       const double *lambda, double *f)
{
    int answer = dae_mech_force(m, t, q, v, f);
    if (answer == DAE_OK && m->model.friction) {
        answer = m->model.friction(t, q, v, lambda, m->f_side, m->model.user);
        for (int i = 0; i < m->n; i++) f[i] += m->f_side[i];
    }
    dae_mech_W_transposed(m, m->W, lambda, f);
    return answer;
}

static void copy(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

/* q' = v, M v' = f + W' lambda; leaves the residuals of velocity in m->rate and W in
 * m->W */
static int motion(dae_mechanism *m, double t, const double *x, double *f)
{
    const double *v = x + m->at.v, *lambda = x + m->at.lambda;
    int answer = dae_mech_velocity(m, t, x, v, m->rate);
    copy(f, v, m->n);
    return answer == DAE_OK ? total_force(m, t, x, v, lambda, f + m->at.v) : answer;
}

static int rhs_index3(dae_mechanism *m, double t, const double *x, double *f)
{
    const double *lambda = x + m->at.lambda;
    int answer = motion(m, t, x, f);
    if (answer == DAE_OK)
        answer = dae_mech_phi(m, t, x, m->rate); /* its rolling part is right already */
    dae_mech_rows(m, m->m, m->rate, lambda, f + m->at.lambda);
    return answer;
}

static int rhs_index2(dae_mechanism *m, double t, const double *x, double *f)
{
    int answer = motion(m, t, x, f);
    dae_mech_rows(m, m->m, m->rate, x + m->at.lambda, f + m->at.lambda);
    return answer;
}

/* v' = a, 0 = f + W' lambda - M a; f as index3 or index2 left it */
static int accelerated(dae_mechanism *m, double t, const double *x, double *f, int answer)
{
    const double *a = x + m->at.a;
    double *force = f + m->at.a;
    if (answer == DAE_OK) answer = dae_mech_mass(m, t, x, m->M);
    copy(force, f + m->at.v, m->n);
    copy(f + m->at.v, a, m->n);
    dae_mech_M_times(m, -1, a, force);
    return answer;
}

static int rhs_index3_acceleration(dae_mechanism *m, double t, const double *x, double *f)
{
    return accelerated(m, t, x, f, rhs_index3(m, t, x, f));
}

static int rhs_index2_acceleration(dae_mechanism *m, double t, const double *x, double *f)
{
    return accelerated(m, t, x, f, rhs_index2(m, t, x, f));
}

/* M and W in the equations, nothing eliminated: so it stays sparse */
static int rhs_index1_acceleration(dae_mechanism *m, double t, const double *x, double *f)
{
    const double *v = x + m->at.v, *lambda = x + m->at.lambda;
    int answer = dae_mech_matrix(m, t, x, m->W);
    copy(f, v, m->n);
    if (answer == DAE_OK) answer = total_force(m, t, x, v, lambda, f + m->at.v);
    answer = accelerated(m, t, x, f, answer);
    if (answer == DAE_OK) answer = dae_mech_bias(m, t, x, v, m->bias);
    dae_mech_W_times(m, m->W, x + m->at.a, m->bias);
    dae_mech_rows(m, m->m, m->bias, lambda, f + m->at.lambda);
    return answer;
}

/* lambda - Lambda(t, q, v), with or without feedback */
static int reduced(dae_mechanism *m, double t, const double *x, int feedback, double *f)
{
    const double *v = x + m->at.v, *lambda = x + m->at.lambda;
    double *row = f + m->at.lambda;
    int answer = feedback ? dae_mech_feedback(m, t, x, v, m->values) : DAE_OK;
    if (answer == DAE_OK)
        answer = dae_mech_accelerate(m, t, x, v, feedback ? m->values : NULL, m->a_side, row);
    if (answer != DAE_OK) return answer;
    for (int i = 0; i < m->m; i++) row[i] = lambda[i] - row[i];
    copy(f, v, m->n);
    answer = total_force(m, t, x, v, lambda, f + m->at.v);
    dae_mech_help_force(m, f + m->at.v); /* bias has the feedback in it */
    return answer;
}

static int rhs_index1(dae_mechanism *m, double t, const double *x, double *f)
{
    return reduced(m, t, x, 0, f);
}

static int rhs_baumgarte(dae_mechanism *m, double t, const double *x, double *f)
{
    return reduced(m, t, x, 1, f);
}

static int rhs_index0(dae_mechanism *m, double t, const double *x, double *f)
{
    copy(f, x + m->n, m->n);
    return dae_mech_accelerate(m, t, x, x + m->n, NULL, f + m->n, m->lambda_side);
}

/* The velocity f becomes f + phi_q' mu, or M f + phi_q' mu; m->M, m->W are set. mu is
 * measured in units in which one is a correction as large as velocities are: else the
 * tolerance for mu, which need not be known at all, would rule the run. */
static void relax(dae_mechanism *m, int with_mass, const double *mu, double *f)
{
    double *product = m->v_side;
    if (with_mass) {
        memset(product, 0, (size_t)m->n * sizeof *product);
        dae_mech_M_times(m, 1, f, product);
        copy(f, product, m->n);
    }
    if (m->sparse)
        dae_mech_sparse_transposed(&m->sparse->W, m->W, 0, m->h, m->mu_unit, mu, f);
    else
        for (int j = 0; j < m->n; j++)
            f[j] += m->mu_unit * dae_mech_dot(m->W + (size_t)j * (size_t)m->m, mu, m->h);
}

static int stabilized(dae_mechanism *m, double t, const double *x, int with_mass, double *f)
{
    const double *lambda = x + m->at.lambda, *mu = x + m->at.mu;
    int answer = motion(m, t, x, f);
    if (answer == DAE_OK && with_mass) answer = dae_mech_mass(m, t, x, m->M);
    if (answer != DAE_OK) return answer;
    if (m->form->parts & MECH_HELP) dae_mech_help(m);
    relax(m, with_mass, mu, f);
    dae_mech_rows(m, m->m, m->rate, lambda, f + m->at.lambda);
    answer = dae_mech_phi(m, t, x, m->c);
    dae_mech_rows(m, m->h, m->c, mu, f + m->at.mu);
    return answer;
}

static int rhs_ggl(dae_mechanism *m, double t, const double *x, double *f)
{
    return stabilized(m, t, x, 0, f);
}

static int rhs_ggl_mass(dae_mechanism *m, double t, const double *x, double *f)
{
    return stabilized(m, t, x, 1, f);
}

static int rhs_fuehrer(dae_mechanism *m, double t, const double *x, double *f)
{
    const double *v = x + m->at.v, *w = x + m->at.a, *lambda = x + m->at.lambda;
    double *fv = f + m->at.v, *fw = f + m->at.a, *nu = m->lambda_new, tau = m->step_t;
    int n = m->n;
    for (int i = 0; i < m->m; i++) /* one is a correction as large as accelerations are */
        nu[i] = m->mu_unit / tau * x[m->at.nu + i];
    int answer = dae_mech_matrix_rate(m, t, x, v, nu, m->a_side);
    if (answer == DAE_OK)
        answer = stabilized(m, t, x, 1, f); /* at v: f + W' lambda; at lambda: velocity */
    if (answer == DAE_OK) answer = dae_mech_bias(m, t, x, v, m->bias);
    if (answer != DAE_OK) return answer;
    for (int i = 0; i < n; i++) {
        fw[i] = fv[i] - w[i];
        fv[i] = w[i];
        f[i] += tau * tau * m->a_side[i];
    }
    dae_mech_add_transposed(m->W, m->m, n, nu, fv);
    dae_mech_help_force(m, fv);
    dae_mech_rows(m, m->m, m->rate, x + m->at.nu, f + m->at.nu); /* velocity determines nu ... */
    copy(m->a_side, w, n);
    dae_mech_help_force(m, m->a_side);
    answer = dae_mech_divide_by_mass(m, m->a_side); /* ... and acceleration lambda */
    dae_mech_add_product(m->W, m->m, n, 1, m->a_side, m->bias);
    dae_mech_rows(m, m->m, m->bias, lambda, f + m->at.lambda);
    return answer;
}

/* ---- penalties ---- */

/* What stands before the rounds. Rows of constraints are all of them for the plain penalty. The
 * augmented one takes the independent combinations: off phi = 0 redundant constraints that are
 * not multiples of each other contradict one another, and lambda would grow by the contradiction
 * in every round. */
typedef struct penalties {
    int rows, augmented;
    double p, *W, *bias, *mu; /* bias with feedback; mu: multipliers of these rows */
} penalties;

/* p relative to M: so that p |W'W| = penalty * |M|, both by their traces */
static double weight(const dae_mechanism *m, const penalties *g)
{
    double mass = 0, square = 0;
    for (size_t i = 0; i < (size_t)m->n; i++) mass += fabs(m->M[i + i * (size_t)m->n]);
    for (size_t i = 0; i < (size_t)g->rows * (size_t)m->n; i++) square += g->W[i] * g->W[i];
    return square > 0 ? m->penalty * mass / square : 0;
}

static int factor_penalty(dae_mechanism *m, const penalties *g)
{
    int n = m->n, info = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            m->kkt[dae_mech_at(i, j, n)] =
                m->M[dae_mech_at(i, j, n)] + g->p * dae_mech_dot(g->W + dae_mech_at(0, i, g->rows),
                                                                 g->W + dae_mech_at(0, j, g->rows),
                                                                 g->rows);
    dgetrf_(&n, &n, m->kkt, &n, m->pivots, &info);
    return info == 0 ? DAE_OK : DAE_RETRY;
}

/* a and mu := star - p (W a + bias) with friction at the lambda before; answers by how much
 * mu changed. */
static int penalty_round(dae_mechanism *m, double t, const double *q, const double *v,
                         const penalties *g, const double *star, double *a, double *lambda,
                         double *change)
{
    int n = m->n, one = 1, info = 0, answer = DAE_OK;
    copy(a, m->f, n);
    if (m->model.friction) {
        answer = m->model.friction(t, q, v, lambda, m->f_side, m->model.user);
        for (int i = 0; i < n; i++) a[i] += m->f_side[i];
    }
    for (int i = 0; i < g->rows; i++) m->c[i] = star[i] - g->p * g->bias[i];
    dae_mech_add_transposed(g->W, g->rows, n, m->c, a);
    dgetrs_("N", &n, &one, m->kkt, &n, m->pivots, a, &n, &info, 1);
    copy(m->c, g->bias, g->rows);
    dae_mech_add_product(g->W, g->rows, n, 1, a, m->c);
    *change = 0;
    for (int i = 0; i < g->rows; i++) {
        double now = star[i] - g->p * m->c[i];
        *change = fmax(*change, fabs(now - g->mu[i]));
        g->mu[i] = now;
    }
    if (g->augmented)
        dae_mech_expand(m, g->mu, lambda);
    else
        copy(lambda, g->mu, m->m);
    return answer;
}

/* The rows to m->T and m->sum */
static void take_rows(dae_mechanism *m, penalties *g)
{
    *g = (penalties){
        .rows = m->m, .augmented = g->augmented, .W = m->W, .bias = m->bias, .mu = m->rate
    };
    if (!g->augmented) return;
    g->rows = m->rank;
    g->W = m->T;
    g->bias = m->sum;
    dae_mech_compress(m, m->bias, g->bias);
    for (int j = 0; j < m->n; j++)
        dae_mech_compress(m, m->W + dae_mech_at(0, j, m->m), g->W + dae_mech_at(0, j, g->rows));
}

/* The matrix, forces, bias. */
static int penalty_begin(dae_mechanism *m, double t, const double *q, const double *v, penalties *g)
{
    int answer = dae_mech_feedback(m, t, q, v, m->values); /* W too */
    if (answer == DAE_OK) answer = dae_mech_bias(m, t, q, v, m->bias);
    if (answer == DAE_OK) answer = dae_mech_mass(m, t, q, m->M);
    if (answer == DAE_OK) answer = dae_mech_force(m, t, q, v, m->f);
    if (answer != DAE_OK) return answer;
    for (int i = 0; i < m->m; i++) m->bias[i] += m->values[i];
    take_rows(m, g);
    g->p = weight(m, g);
    memset(g->mu, 0, (size_t)m->m * sizeof(double));
    return factor_penalty(m, g);
}

/* Plain penalty without friction: one round. Otherwise until mu stays: star is mu
 * (augmented), or only the friction has to settle. */
int dae_mech_penalty_solve(dae_mechanism *m, double t, const double *q, const double *v,
                           int augmented, double *a, double *lambda)
{
    enum { MOST = 100 };
    penalties g = { .augmented = augmented };
    double change = INFINITY, before, size = 0, *star = m->lambda_new;
    int answer = penalty_begin(m, t, q, v, &g), settled = 0;
    double slope = dae_mech_most(m->W, m->m * m->n);
    double least = slope > 0 ? dae_mech_most(m->f, m->n) / slope : 0; /* lambda may be 0 */
    memset(lambda, 0, (size_t)m->m * sizeof *lambda);
    memset(star, 0, (size_t)m->m * sizeof *star);
    for (int k = 0; k < MOST && answer == DAE_OK && !settled; k++) {
        before = change;
        answer = penalty_round(m, t, q, v, &g, star, a, lambda, &change);
        size = fmax(dae_mech_most(g.mu, g.rows), least);
        settled = change <= 1e-15 * size || (change <= 1e-9 * size && change >= before) ||
                  (!augmented && !m->model.friction);
        if (augmented) copy(star, g.mu, g.rows);
    }
    if (answer == DAE_OK && !settled && !(change <= 1e-6 * size)) return DAE_RETRY;
    return answer;
}

static int rhs_penalty(dae_mechanism *m, double t, const double *x, double *f)
{
    copy(f, x + m->n, m->n);
    return dae_mech_penalty_solve(m, t, x, x + m->n, 0, f + m->n, m->lambda_side);
}

static int rhs_augmented(dae_mechanism *m, double t, const double *x, double *f)
{
    copy(f, x + m->n, m->n);
    return dae_mech_penalty_solve(m, t, x, x + m->n, 1, f + m->n, m->lambda_side);
}

/* ---- the list ---- */

#define MOTION (MECH_V | MECH_LAMBDA | MECH_MASS_V)
/* clang-format off */
const dae_mech_form dae_mech_forms[] = {
    { "ggl", "stabilized with phi_q' mu (Gear, Gupta, Leimkuhler)", 2, MOTION | MECH_MU,
      rhs_ggl, NULL, DAE_INDEX2, DAE_INDEX2, 0 },
    { "ggl-mass", "stabilized with M^-1 phi_q' mu", 2, MOTION | MECH_MU | MECH_MASS_Q,
      rhs_ggl_mass, NULL, DAE_INDEX2, DAE_INDEX2, 0 },
    { "fuehrer-leimkuhler", "stabilized on three levels, multipliers mu and nu", 2,
      MOTION | MECH_MU | MECH_NU | MECH_A | MECH_MASS_Q | MECH_HELP,
      rhs_fuehrer, NULL, DAE_INDEX2, DAE_INDEX2, 0 },
    { "index3", "constraints of positions", 3, MOTION, rhs_index3, NULL,
      DAE_INDEX3, DAE_INDEX2, DAE_INDEX2 },
    { "index2", "constraints of velocities", 2, MOTION, rhs_index2, NULL,
      DAE_INDEX2, DAE_INDEX2, 0 },
    { "index1", "constraints of accelerations", 1, MOTION | MECH_HELP, rhs_index1, NULL,
      DAE_ALGEBRAIC, DAE_ALGEBRAIC, 0 },
    { "index0", "multipliers eliminated (Udwadia, Kalaba)", 0, MECH_V, rhs_index0, NULL,
      0, 0, 0 },
    { "baumgarte", "index 1 with phi'' + 2 alpha phi' + beta^2 phi = 0", 1,
      MOTION | MECH_HELP, rhs_baumgarte, NULL, DAE_ALGEBRAIC, DAE_ALGEBRAIC, 0 },
    { "penalty", "stiff constraints in place of multipliers (Bayo)", 0, MECH_V,
      rhs_penalty, NULL, 0, 0, 0 },
    { "augmented-lagrangian", "penalty, iterated until exact", 0, MECH_V,
      rhs_augmented, NULL, 0, 0, 0 },
    { "maggi-partition", "minimal velocities: independent coordinates", 0, MECH_MINIMAL,
      dae_mech_minimal_rhs, dae_mech_partition, 0, 0, 0 },
    { "maggi-qr", "minimal velocities: null space by QR", 0, MECH_MINIMAL,
      dae_mech_minimal_rhs, dae_mech_null_qr, 0, 0, 0 },
    { "maggi-svd", "minimal velocities: null space by singular values", 0, MECH_MINIMAL,
      dae_mech_minimal_rhs, dae_mech_null_svd, 0, 0, 0 },
    { "maggi-zero-eigenvalue", "minimal velocities: null space by eigenvectors of W'W", 0,
      MECH_MINIMAL, dae_mech_minimal_rhs, dae_mech_null_eigen, 0, 0, 0 },
    { "maggi-gram-schmidt", "minimal velocities: null space by orthogonalization", 0,
      MECH_MINIMAL, dae_mech_minimal_rhs, dae_mech_null_gram_schmidt, 0, 0, 0 },
    /* found by name, not listed: BDF does not get off with them below 1e-7 */
    { "index3-acceleration", "constraints of positions, accelerations as unknowns", 3,
      MECH_V | MECH_A | MECH_PLAIN_A | MECH_LAMBDA, rhs_index3_acceleration, NULL,
      DAE_INDEX3, DAE_INDEX2, DAE_INDEX2 },
    { "index2-acceleration", "constraints of velocities, accelerations as unknowns", 2,
      MECH_V | MECH_A | MECH_PLAIN_A | MECH_LAMBDA, rhs_index2_acceleration, NULL,
      DAE_INDEX2, DAE_INDEX2, 0 },
    { "index1-acceleration", "constraints of accelerations, which are unknowns", 1,
      MECH_V | MECH_A | MECH_PLAIN_A | MECH_LAMBDA, rhs_index1_acceleration, NULL,
      DAE_ALGEBRAIC, DAE_ALGEBRAIC, 0 },
};
/* clang-format on */
enum { UNLISTED = 3 };
const int dae_mech_form_all = (int)(sizeof dae_mech_forms / sizeof dae_mech_forms[0]);
const int dae_mech_form_count = (int)(sizeof dae_mech_forms / sizeof dae_mech_forms[0]) - UNLISTED;

int dae_formulation_count(void)
{
    return dae_mech_form_count;
}

static const dae_mech_form *form_of(int i)
{
    return i >= 0 && i < dae_mech_form_count ? &dae_mech_forms[i] : NULL;
}

const char *dae_formulation_name(int i)
{
    return form_of(i) ? form_of(i)->name : NULL;
}

const char *dae_formulation_title(int i)
{
    return form_of(i) ? form_of(i)->title : NULL;
}

int dae_formulation_index(int i)
{
    return form_of(i) ? form_of(i)->index : -1;
}
