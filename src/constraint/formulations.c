/* formulations.c: the same mechanism as problems of index 3, 2, 1 and 0.
 *
 *   index3     q' = v,  M v' = f + W' lambda,  phi = 0 (rolling: A v + b = 0)
 *   index2     the same with W v + rate = 0
 *   index1     the same with lambda = -(W M^-1 W')^-1 (W M^-1 f + bias)
 *   index0     q' = v,  v' = a(t, q, v): the multipliers eliminated
 *   baumgarte  index1 with phi'' + 2 alpha phi' + beta^2 phi = 0 in place of phi'' = 0
 *              (Baumgarte 1972)
 *   ggl        q' = v + phi_q' mu, both phi = 0 and W v + rate = 0 (Gear, Leimkuhler, Gupta
 *              1985); ggl-mass  M q' = M v + phi_q' mu: the least correction in kinetic energy
 *   fuehrer-leimkuhler  (Fuehrer, Leimkuhler 1991)
 *              M q' = M v + phi_q' mu + (dW/dt)' nu,  M v' = M a + W' nu,  M a = f + W' lambda,
 *              phi = 0,  W v + rate = 0,  W a + bias = 0.
 *              Its index is 2, not 1: mu and nu are multipliers of constraints without them.
 *   penalty    (M + p W'W) v' = f - p W' (bias + 2 alpha phi' + beta^2 phi) (Bayo, Garcia de
 *              Jalon, Serna 1988); lambda = -p (phi'' + 2 alpha phi' + beta^2 phi), so that
 *              constraints are violated by about lambda / (p beta^2)
 *   augmented-lagrangian  the same with lambda* added and iterated until phi'' + ... = 0: exact,
 *              and in need of neither a regular M nor independent constraints
 *   maggi-...  maggi.c
 *
 * x = (q, v, a, lambda, mu, nu), what is there of them; rows in the same order.
 */
#include "constraint/mechanism.h"
#include "constraint/lapack.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

/* f(t, q, v, lambda) + W' lambda with m->W set */
static int total_force(mech *m, double t, const double *q, const double *v,
                       const double *lambda, double *f)
{
    int answer = mech_force(m, t, q, v, f);
    if (answer == DAE_OK && m->model.friction) {
        answer = m->model.friction(t, q, v, lambda, m->f_side, m->model.user);
        for (int i = 0; i < m->n; i++)
            f[i] += m->f_side[i];
    }
    mech_add_transposed(m->W, m->m, m->n, lambda, f);
    return answer;
}

static void copy(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

/* q' = v, M v' = f + W' lambda; leaves the residuals of velocity in m->rate and W in m->W */
static int motion(mech *m, double t, const double *x, double *f)
{
    const double *v = x + m->at.v, *lambda = x + m->at.lambda;
    int answer = mech_velocity(m, t, x, v, m->rate);
    copy(f, v, m->n);
    return answer == DAE_OK ? total_force(m, t, x, v, lambda, f + m->at.v) : answer;
}

static int rhs_index3(mech *m, double t, const double *x, double *f)
{
    const double *lambda = x + m->at.lambda;
    int answer = motion(m, t, x, f);
    if (answer == DAE_OK)
        answer = mech_phi(m, t, x, m->rate); /* its rolling part is right already */
    mech_rows(m, m->m, m->rate, lambda, f + m->at.lambda);
    return answer;
}

static int rhs_index2(mech *m, double t, const double *x, double *f)
{
    int answer = motion(m, t, x, f);
    mech_rows(m, m->m, m->rate, x + m->at.lambda, f + m->at.lambda);
    return answer;
}

/* lambda - Lambda(t, q, v), with or without feedback */
static int reduced(mech *m, double t, const double *x, int feedback, double *f)
{
    const double *v = x + m->at.v, *lambda = x + m->at.lambda;
    double *row = f + m->at.lambda;
    int answer = feedback ? mech_feedback(m, t, x, v, m->values) : DAE_OK;
    if (answer == DAE_OK)
        answer = mech_accelerate(m, t, x, v, feedback ? m->values : NULL, m->a_side, row);
    if (answer != DAE_OK)
        return answer;
    for (int i = 0; i < m->m; i++)
        row[i] = lambda[i] - row[i];
    copy(f, v, m->n);
    return total_force(m, t, x, v, lambda, f + m->at.v);
}

static int rhs_index1(mech *m, double t, const double *x, double *f)
{
    return reduced(m, t, x, 0, f);
}

static int rhs_baumgarte(mech *m, double t, const double *x, double *f)
{
    return reduced(m, t, x, 1, f);
}

static int rhs_index0(mech *m, double t, const double *x, double *f)
{
    copy(f, x + m->n, m->n);
    return mech_accelerate(m, t, x, x + m->n, NULL, f + m->n, m->lambda_side);
}

/* Part k (of length n) of f becomes M times it plus phi_q' mu. m->M, m->W are set. */
static void relax(mech *m, int with_mass, const double *mu, double *f)
{
    double *product = m->v_side;
    if (with_mass) {
        memset(product, 0, (size_t)m->n * sizeof *product);
        mech_add_product(m->M, m->n, m->n, 1, f, product);
        copy(f, product, m->n);
    }
    for (int j = 0; j < m->n; j++)
        f[j] += mech_dot(m->W + (size_t)j * (size_t)m->m, mu, m->h);
}

static int stabilized(mech *m, double t, const double *x, int with_mass, double *f)
{
    const double *lambda = x + m->at.lambda, *mu = x + m->at.mu;
    int answer = motion(m, t, x, f);
    if (answer == DAE_OK && with_mass)
        answer = mech_mass(m, t, x, m->M);
    if (answer != DAE_OK)
        return answer;
    relax(m, with_mass, mu, f);
    mech_rows(m, m->m, m->rate, lambda, f + m->at.lambda);
    answer = mech_phi(m, t, x, m->c);
    mech_rows(m, m->h, m->c, mu, f + m->at.mu);
    return answer;
}

static int rhs_ggl(mech *m, double t, const double *x, double *f)
{
    return stabilized(m, t, x, 0, f);
}

static int rhs_ggl_mass(mech *m, double t, const double *x, double *f)
{
    return stabilized(m, t, x, 1, f);
}

static int rhs_fuehrer(mech *m, double t, const double *x, double *f)
{
    const double *v = x + m->at.v, *a = x + m->at.a, *lambda = x + m->at.lambda;
    const double *nu = x + m->at.nu;
    double *fv = f + m->at.v, *fa = f + m->at.a;
    int n = m->n, answer = mech_matrix_rate(m, t, x, v, nu, m->a_side);
    if (answer == DAE_OK)
        answer =
            stabilized(m, t, x, 1, f); /* f at v: f + W' lambda; at lambda: velocity */
    if (answer != DAE_OK)
        return answer;
    copy(fa, fv, n);
    memset(fv, 0, (size_t)n * sizeof *fv);
    mech_add_product(m->M, n, n, 1, a, fv); /* M a */
    for (int i = 0; i < n; i++) {
        fa[i] -= fv[i];
        f[i] += m->a_side[i];
    }
    mech_add_transposed(m->W, m->m, n, nu, fv);
    mech_rows(m, m->m, m->rate, nu, f + m->at.nu); /* velocity determines nu, ... */
    answer = mech_bias(m, t, x, v, m->bias);       /* ... acceleration lambda */
    mech_add_product(m->W, m->m, n, 1, a, m->bias);
    mech_rows(m, m->m, m->bias, lambda, f + m->at.lambda);
    return answer;
}

/* ---- penalties ---- */

/* p relative to M: so that p |W'W| = penalty * |M|, both by their traces */
static double weight(const mech *m)
{
    double mass = 0, square = 0;
    for (size_t i = 0; i < (size_t)m->n; i++)
        mass += fabs(m->M[i + i * (size_t)m->n]);
    for (size_t i = 0; i < (size_t)m->m * (size_t)m->n; i++)
        square += m->W[i] * m->W[i];
    return square > 0 ? m->penalty * mass / square : 0;
}

static int factor_penalty(mech *m, double p)
{
    int n = m->n, info = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            m->kkt[mech_at(i, j, n)] =
                m->M[mech_at(i, j, n)] + p * mech_dot(m->W + (size_t)i * (size_t)m->m,
                                                      m->W + (size_t)j * (size_t)m->m,
                                                      m->m);
    dgetrf_(&n, &n, m->kkt, &n, m->pivots, &info);
    return info == 0 ? DAE_OK : DAE_RETRY;
}

/* a for lambda*, then lambda := lambda* - p (W a + bias), the size of the change answered */
static int penalty_round(mech *m, double t, const double *q, const double *v, double p,
                         double *a, double *lambda, double *change)
{
    int n = m->n, one = 1, info = 0, answer = DAE_OK;
    copy(a, m->f, n);
    if (m->model.friction) {
        answer = m->model.friction(t, q, v, lambda, m->f_side, m->model.user);
        for (int i = 0; i < n; i++)
            a[i] += m->f_side[i];
    }
    for (int i = 0; i < m->m; i++)
        m->c[i] = lambda[i] - p * m->bias[i];
    mech_add_transposed(m->W, m->m, n, m->c, a);
    dgetrs_("N", &n, &one, m->kkt, &n, m->pivots, a, &n, &info, 1);
    copy(m->c, m->bias, m->m);
    mech_add_product(m->W, m->m, n, 1, a, m->c);
    for (int i = 0; i < m->m; i++)
        lambda[i] -= p * m->c[i];
    *change = p * mech_most(m->c, m->m);
    return answer;
}

int mech_penalty_solve(mech *m, double t, const double *q, const double *v, int augmented,
                       double *a, double *lambda)
{
    enum { MOST = 60 };
    double change = INFINITY, before;
    int answer = mech_feedback(m, t, q, v, m->values); /* W too */
    if (answer == DAE_OK)
        answer = mech_bias(m, t, q, v, m->bias);
    if (answer == DAE_OK)
        answer = mech_mass(m, t, q, m->M);
    if (answer == DAE_OK)
        answer = mech_force(m, t, q, v, m->f);
    double p = weight(m);
    if (answer == DAE_OK)
        answer = factor_penalty(m, p);
    if (answer != DAE_OK)
        return answer;
    for (int i = 0; i < m->m; i++) {
        m->bias[i] += m->values[i];
        lambda[i] = 0;
    }
    for (int k = 0; k < MOST && answer == DAE_OK; k++) {
        before = change;
        answer = penalty_round(m, t, q, v, p, a, lambda, &change);
        double size = mech_most(lambda, m->m);
        if (!augmented || change <= 1e-15 * size ||
            (change <= 1e-9 * size && change >= before))
            return answer;
    }
    return answer == DAE_OK && !(change <= 1e-6 * mech_most(lambda, m->m)) ? DAE_RETRY
                                                                           : answer;
}

static int rhs_penalty(mech *m, double t, const double *x, double *f)
{
    copy(f, x + m->n, m->n);
    return mech_penalty_solve(m, t, x, x + m->n, 0, f + m->n, m->lambda_side);
}

static int rhs_augmented(mech *m, double t, const double *x, double *f)
{
    copy(f, x + m->n, m->n);
    return mech_penalty_solve(m, t, x, x + m->n, 1, f + m->n, m->lambda_side);
}

/* ---- the list ---- */

#define MOTION (MECH_V | MECH_LAMBDA | MECH_MASS_V)
/* clang-format off */
const mech_form mech_forms[] = {
    { "ggl", "stabilized with phi_q' mu (Gear, Gupta, Leimkuhler)", 2, MOTION | MECH_MU,
      rhs_ggl, NULL, DAE_INDEX2, DAE_INDEX2, 0 },
    { "ggl-mass", "stabilized with M^-1 phi_q' mu", 2, MOTION | MECH_MU | MECH_MASS_Q,
      rhs_ggl_mass, NULL, DAE_INDEX2, DAE_INDEX2, 0 },
    { "fuehrer-leimkuhler", "stabilized on three levels, multipliers mu and nu", 2,
      MOTION | MECH_MU | MECH_NU | MECH_A | MECH_MASS_Q,
      rhs_fuehrer, NULL, DAE_ALGEBRAIC, DAE_ALGEBRAIC, 0 },
    { "index3", "constraints of positions", 3, MOTION, rhs_index3, NULL,
      DAE_INDEX3, DAE_INDEX2, DAE_INDEX2 },
    { "index2", "constraints of velocities", 2, MOTION, rhs_index2, NULL,
      DAE_INDEX2, DAE_INDEX2, 0 },
    { "index1", "constraints of accelerations", 1, MOTION, rhs_index1, NULL,
      DAE_ALGEBRAIC, DAE_ALGEBRAIC, 0 },
    { "index0", "multipliers eliminated (Udwadia, Kalaba)", 0, MECH_V, rhs_index0, NULL,
      0, 0, 0 },
    { "baumgarte", "index 1 with phi'' + 2 alpha phi' + beta^2 phi = 0", 1, MOTION,
      rhs_baumgarte, NULL, DAE_ALGEBRAIC, DAE_ALGEBRAIC, 0 },
    { "penalty", "stiff constraints in place of multipliers (Bayo)", 0, MECH_V, rhs_penalty,
      NULL, 0, 0, 0 },
    { "augmented-lagrangian", "penalty, iterated until exact", 0, MECH_V, rhs_augmented, NULL,
      0, 0, 0 },
    { "maggi-partition", "minimal velocities: independent coordinates", 0, MECH_MINIMAL,
      mech_minimal_rhs, mech_partition, 0, 0, 0 },
    { "maggi-qr", "minimal velocities: null space by QR", 0, MECH_MINIMAL, mech_minimal_rhs,
      mech_null_qr, 0, 0, 0 },
    { "maggi-svd", "minimal velocities: null space by singular values", 0, MECH_MINIMAL,
      mech_minimal_rhs, mech_null_svd, 0, 0, 0 },
    { "maggi-zero-eigenvalue", "minimal velocities: null space by eigenvectors of W'W", 0,
      MECH_MINIMAL, mech_minimal_rhs, mech_null_eigen, 0, 0, 0 },
    { "maggi-gram-schmidt", "minimal velocities: null space by orthogonalization", 0,
      MECH_MINIMAL, mech_minimal_rhs, mech_null_gram_schmidt, 0, 0, 0 },
};
/* clang-format on */
const int mech_form_count = (int)(sizeof mech_forms / sizeof mech_forms[0]);

int dae_formulation_count(void)
{
    return mech_form_count;
}

static const mech_form *form_of(int i)
{
    return i >= 0 && i < mech_form_count ? &mech_forms[i] : NULL;
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
