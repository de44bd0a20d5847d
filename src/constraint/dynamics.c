/* dynamics.c: accelerations and multipliers at a position and velocity.
 *
 *     [ M  -W' ] [ a      ]   [ f          ]
 *     [ W   0  ] [ lambda ] = [ -bias      ]
 *
 * by dense LU, with U_active' W in place of W (mechanism.h). M may be singular as long as
 * it is not on the null space of W. Written out for a regular M this is lambda = -(W M^-1
 * W')^-1 (W M^-1 f + bias), the elimination of the multipliers (Udwadia and Kalaba 1992
 * for redundant W).
 *
 * Forces that depend on the multipliers make it lambda = Lambda(f + friction(lambda)):
 * Newton's iteration in lambda, its matrix by differences. Where Coulomb's friction
 * leaves several solutions or none (Painleve's paradox) it does not converge: DAE_RETRY.
 */
#include "constraint/sparse.h"
#include "linear/lapack.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

int dae_mech_kkt_factor(dae_mechanism *m, const double *M)
{
    return dae_mech_kkt_factor_between(m, M, m->W);
}

/* [M -V'; W 0], V and m->W compressed. DAE_RETRY: singular or not finite. */
int dae_mech_kkt_factor_between(dae_mechanism *m, const double *M, const double *V)
{
    int n = m->n, size = n + m->rank, info = 0;
    size_t ld = (size_t)size;
    if (m->sparse) return dae_mech_sparse_factor(m, M, V);
    memset(m->kkt, 0, ld * ld * sizeof(double));
    for (int j = 0; j < n; j++) {
        memcpy(m->kkt + (size_t)j * ld, M + (size_t)j * (size_t)n, (size_t)n * sizeof *M);
        double *low = m->kkt + (size_t)j * ld + n;
        dae_mech_compress(m, m->W + (size_t)j * (size_t)m->m, low);
        dae_mech_compress(m, V + (size_t)j * (size_t)m->m, m->kkt_b);
        for (int k = 0; k < m->rank; k++) m->kkt[dae_mech_at(j, n + k, size)] = -m->kkt_b[k];
    }
    for (size_t i = 0; i < ld * ld; i++)
        if (!isfinite(m->kkt[i])) return DAE_RETRY;
    dgetrf_(&size, &size, m->kkt, &size, m->pivots, &info);
    return info == 0 ? DAE_OK : DAE_RETRY;
}

void dae_mech_kkt_solve(dae_mechanism *m, double *top, double *bottom)
{
    int n = m->n, size = n + m->rank, one = 1, info = 0;
    if (m->sparse) {
        dae_mech_sparse_solve(m, top, bottom);
        return;
    }
    memcpy(m->kkt_b, top, (size_t)n * sizeof(double));
    memcpy(m->kkt_b + n, bottom, (size_t)m->rank * sizeof(double));
    dgetrs_("N", &size, &one, m->kkt, &size, m->pivots, m->kkt_b, &size, &info, 1);
    memcpy(top, m->kkt_b, (size_t)n * sizeof(double));
    memcpy(bottom, m->kkt_b + n, (size_t)m->rank * sizeof(double));
}

/* a and lambda for the force m->f (plus friction at lambda_in), bias in m->bias. */
static int respond(dae_mechanism *m, double t, const double *q, const double *v,
                   const double *lambda_in, double *a, double *lambda)
{
    memcpy(a, m->f, (size_t)m->n * sizeof *a);
    if (lambda_in) {
        int answer = m->model.friction(t, q, v, lambda_in, m->f_side, m->model.user);
        if (answer != DAE_OK) return answer;
        for (int i = 0; i < m->n; i++) a[i] += m->f_side[i];
    }
    dae_mech_compress(m, m->bias, m->rate);
    for (int k = 0; k < m->rank; k++) m->rate[k] = -m->rate[k];
    dae_mech_kkt_solve(m, a, m->rate);
    dae_mech_expand(m, m->rate, lambda);
    return DAE_OK;
}

/* The same without a matrix, which would be dense: lambda := Lambda(lambda). */
static int settle(dae_mechanism *m, double t, const double *q, const double *v, double *a,
                  double *lambda, double *change)
{
    int answer = respond(m, t, q, v, lambda, a, m->lambda_new);
    *change = 0;
    for (int i = 0; i < m->m; i++) {
        *change = fmax(*change, fabs(m->lambda_new[i] - lambda[i]));
        lambda[i] = m->lambda_new[i];
    }
    return answer;
}

/* One Newton correction of lambda: (1 - dLambda/dlambda) d = Lambda(lambda) - lambda.
 * The matrix goes to m->S, a to scratch. */
static int correct(dae_mechanism *m, double t, const double *q, const double *v, double *a,
                   double *lambda, double *change)
{
    int k = m->m, one = 1, info = 0, answer;
    if (m->sparse) return settle(m, t, q, v, a, lambda, change);
    double size = dae_mech_most(lambda, k), e = 1e-7 * (size > 0 ? size : 1);
    answer = respond(m, t, q, v, lambda, a, m->lambda_new);
    for (int j = 0; j < k && answer == DAE_OK; j++) {
        double kept = lambda[j], *column = m->S + (size_t)j * (size_t)k;
        lambda[j] += e;
        answer = respond(m, t, q, v, lambda, a, column);
        for (int i = 0; i < k; i++)
            column[i] = (i == j) - (column[i] - m->lambda_new[i]) / (lambda[j] - kept);
        lambda[j] = kept;
    }
    if (answer != DAE_OK) return answer;
    for (int i = 0; i < k; i++) m->lambda_new[i] -= lambda[i];
    dgetrf_(&k, &k, m->S, &k, m->iwork, &info);
    if (info) return DAE_RETRY;
    dgetrs_("N", &k, &one, m->S, &k, m->iwork, m->lambda_new, &k, &info, 1);
    *change = dae_mech_most(m->lambda_new, k);
    for (int i = 0; i < k; i++) lambda[i] += m->lambda_new[i];
    return DAE_OK;
}

static int with_friction(dae_mechanism *m, double t, const double *q, const double *v, double *a,
                         double *lambda)
{
    enum { MOST = 30 };
    double change = INFINITY, before;
    for (int k = 0; k < MOST; k++) {
        before = change;
        int answer = correct(m, t, q, v, a, lambda, &change);
        if (answer != DAE_OK) return answer;
        double size = dae_mech_most(lambda, m->m);
        if (change <= 1e-15 * size || (change <= 1e-10 * size && change >= 0.5 * before)) {
            memcpy(m->lambda_new, lambda, (size_t)m->m * sizeof(double));
            return respond(m, t, q, v, m->lambda_new, a, lambda);
        }
    }
    return DAE_RETRY;
}

int dae_mech_respond(dae_mechanism *m, double t, const double *q, const double *v, double *a,
                     double *lambda)
{
    int answer = respond(m, t, q, v, NULL, a, lambda);
    if (answer == DAE_OK && m->model.friction && m->m > 0)
        answer = with_friction(m, t, q, v, a, lambda);
    return answer;
}

int dae_mech_accelerate(dae_mechanism *m, double t, const double *q, const double *v,
                        const double *extra, double *a, double *lambda)
{
    int answer = dae_mech_mass(m, t, q, m->M);
    if (answer == DAE_OK) answer = dae_mech_matrix(m, t, q, m->W);
    if (answer == DAE_OK) answer = dae_mech_bias(m, t, q, v, m->bias);
    if (answer == DAE_OK) answer = dae_mech_force(m, t, q, v, m->f);
    if (answer == DAE_OK) answer = dae_mech_kkt_factor(m, m->M);
    if (answer != DAE_OK) return answer;
    for (int i = 0; extra && i < m->m; i++) m->bias[i] += extra[i];
    return dae_mech_respond(m, t, q, v, a, lambda);
}

/* w := M^-1 w with m->M */
int dae_mech_divide_by_mass(dae_mechanism *m, double *w)
{
    int n = m->n, one = 1, info = 0;
    if (m->sparse) return dae_mech_sparse_divide(m, w);
    memcpy(m->kkt, m->M, (size_t)n * (size_t)n * sizeof(double));
    dgetrf_(&n, &n, m->kkt, &n, m->pivots, &info);
    if (info) return DAE_RETRY;
    dgetrs_("N", &n, &one, m->kkt, &n, m->pivots, w, &n, &info, 1);
    return DAE_OK;
}

void dae_mech_help(dae_mechanism *m)
{
    for (int j = 0; m->help > 0 && j < m->n; j++)
        for (int i = 0; i < m->n; i++)
            m->M[dae_mech_at(i, j, m->n)] +=
                m->help *
                dae_mech_dot(m->W + dae_mech_at(0, i, m->m), m->W + dae_mech_at(0, j, m->m), m->m);
}

void dae_mech_help_force(dae_mechanism *m, double *g)
{
    for (int j = 0; m->help > 0 && j < m->n; j++)
        g[j] -= m->help * dae_mech_dot(m->W + dae_mech_at(0, j, m->m), m->bias, m->m);
}

/* m->W is set. Both matrices get the same trace. */
int dae_mech_find_help(dae_mechanism *m, double t, const double *q)
{
    int n = m->n, info = 0, answer = dae_mech_mass(m, t, q, m->M);
    double size = 0, trace = 0, square = 0, rcond = 0;
    m->help = 0;
    if (answer != DAE_OK || m->sparse || !dae_mech_mass_varies(m) || m->m == 0) return answer;
    square = dae_mech_dot(m->W, m->W, m->m * n);
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += fabs(m->M[dae_mech_at(i, j, n)]);
        size = fmax(size, sum);
        trace += m->M[dae_mech_at(j, j, n)];
    }
    memcpy(m->kkt, m->M, (size_t)n * (size_t)n * sizeof(double));
    dgetrf_(&n, &n, m->kkt, &n, m->pivots, &info);
    if (info == 0) dgecon_("1", &n, m->kkt, &n, &size, &rcond, m->lapack, m->iwork, &info, 1);
    if (rcond < 1e-12 && square > 0 && trace > 0) m->help = trace / square;
    return DAE_OK;
}

/* a = M^-1 (f + W' lambda), for judging multipliers */
int dae_mech_free_acceleration(dae_mechanism *m, double t, const double *q, const double *v,
                               const double *lambda, double *a)
{
    int n = m->n, answer = dae_mech_mass(m, t, q, m->M);
    if (answer == DAE_OK) answer = dae_mech_matrix(m, t, q, m->W);
    if (answer == DAE_OK) answer = dae_mech_force(m, t, q, v, a);
    if (answer == DAE_OK && m->model.friction) {
        answer = m->model.friction(t, q, v, lambda, m->f_side, m->model.user);
        for (int i = 0; i < n; i++) a[i] += m->f_side[i];
    }
    if (answer != DAE_OK) return answer;
    dae_mech_W_transposed(m, m->W, lambda, a);
    if (m->help > 0) answer = dae_mech_bias(m, t, q, v, m->bias);
    dae_mech_help(m);
    dae_mech_help_force(m, a);
    return answer == DAE_OK ? dae_mech_divide_by_mass(m, a) : answer;
}

int dae_mech_feedback(dae_mechanism *m, double t, const double *q, const double *v, double *extra)
{
    int answer = dae_mech_velocity(m, t, q, v, extra);
    if (answer == DAE_OK) answer = dae_mech_phi(m, t, q, m->c);
    for (int i = 0; i < m->m; i++)
        extra[i] =
            i < m->h ? 2 * m->alpha * extra[i] + m->beta * m->beta * m->c[i] : m->alpha * extra[i];
    return answer;
}
