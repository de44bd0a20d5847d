/* rank.c: which constraints are independent.
 *
 * The rows of W, brought to length 1, by QR with column pivoting of W' (Businger, Golub
 * 1965): the pivots fall from 1; those below RANK_TOLERANCE count as zero, and what comes
 * behind them in the order of pivots is dependent on what came before. In rows of length
 * 1 a pivot is the sine of the angle to the rows already taken.
 *
 * U. Uh spans the image of phi_q, Ur that of A restricted to the null space of phi_q;
 * each is completed to an orthogonal matrix. The holonomic part must stay apart from the
 * rolling one because their residuals are of different levels in the formulation of index
 * 3.
 */
#include "constraint/mechanism.h"
#include "linear/lapack.h"
#include "base/float_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Assembly finds a singular position to the root of rounding only, 1e-8; a mechanism
 * whose constraints are 1e-6 from dependent cannot be told from a singular one. */
static const double rank_tolerance = 1e-6;

/* QR of A' (n x rows) with rows of length 1; the factors stay in m->T, the order in
 * m->iwork. Answers the rank. */
static int factor_rows(dae_mechanism *m, const double *A, int lda, int rows)
{
    int n = m->n, info = 0;
    double *tau = m->kkt_b, *R = m->S;
    for (int i = 0; i < rows; i++) {
        double length = 0;
        for (int j = 0; j < n; j++) length = hypot(length, A[dae_mech_at(i, j, lda)]);
        for (int j = 0; j < n; j++)
            R[dae_mech_at(j, i, n)] = length > 0 ? A[dae_mech_at(i, j, lda)] / length : 0;
        m->iwork[i] = 0;
    }
    if (rows == 0) return 0;
    dgeqp3_(&n, &rows, R, &n, m->iwork, tau, m->lapack, &m->lapack_size, &info);
    int most = rows < n ? rows : n, rank = 0;
    while (rank < most && fabs(R[dae_mech_at(rank, rank, n)]) > rank_tolerance) rank++;
    return rank;
}

/* basis (rows x rows, orthogonal): its first columns span the image of A (rows x n); how
 * many is answered. */
int dae_mech_columns(dae_mechanism *m, const double *A, int rows, int n, double *basis)
{
    int k = rows < n ? rows : n, info = 0, limit = 0;
    double *tau = m->kkt_b, *R = m->S;
    memcpy(R, A, (size_t)rows * (size_t)n * sizeof *R);
    memset(m->iwork, 0, (size_t)n * sizeof(int));
    dgeqp3_(&rows, &n, R, &rows, m->iwork, tau, m->lapack, &m->lapack_size, &info);
    double most = k > 0 ? fabs(R[0]) : 0;
    while (limit < k && fabs(R[dae_mech_at(limit, limit, rows)]) > rank_tolerance * most) limit++;
    memset(basis, 0, (size_t)rows * (size_t)rows * sizeof *basis);
    memcpy(basis, R, (size_t)rows * (size_t)k * sizeof *basis);
    dorgqr_(&rows, &rows, &k, basis, &rows, tau, m->lapack, &m->lapack_size, &info);
    return limit;
}

static void set_identity(dae_mechanism *m)
{
    size_t k = (size_t)m->m;
    memset(m->U, 0, k * k * sizeof *m->U);
    for (size_t i = 0; i < k; i++) m->U[i + i * k] = 1;
    for (int i = 0; i < m->m; i++) m->active[i] = i;
}

/* A (rows `from` on of W) minus its part in the row space of phi_q, into m->A, whose QR
 * of rank `rank` is in m->S. */
static void restrict_rolling(dae_mechanism *m, int rank)
{
    int n = m->n, rows = m->m - m->h, info = 0;
    if (rank > 0) dorgqr_(&n, &rank, &rank, m->S, &n, m->kkt_b, m->lapack, &m->lapack_size, &info);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            m->A[dae_mech_at(i, j, rows)] = m->W[dae_mech_at(m->h + i, j, m->m)];
    for (int k = 0; k < rank; k++)
        for (int i = 0; i < rows; i++) {
            double part = 0;
            const double *Q = m->S + (size_t)k * (size_t)n;
            for (int j = 0; j < n; j++) part += m->A[dae_mech_at(i, j, rows)] * Q[j];
            for (int j = 0; j < n; j++) m->A[dae_mech_at(i, j, rows)] -= part * Q[j];
        }
}

static void put_block(dae_mechanism *m, int from, int rows, int rank, const double *basis,
                      int *next)
{
    for (int k = 0; k < rows; k++)
        for (int i = 0; i < rows; i++)
            m->U[dae_mech_at(from + i, from + k, m->m)] = basis[dae_mech_at(i, k, rows)];
    for (int k = 0; k < rank; k++) m->active[(*next)++] = from + k;
}

/* The rank of m->W, the smallest pivot and whose it is; changes nothing but scratch. */
int dae_mech_look(dae_mechanism *m, double *pivot, int *weakest)
{
    int n = m->n, last = m->m < n ? m->m - 1 : n - 1;
    if (m->sparse) { /* independent, or dae_mech_sparse_rank would have refused */
        *pivot = NAN;
        *weakest = -1;
        return m->m;
    }
    int rank = factor_rows(m, m->W, m->m, m->m);
    *pivot = m->m > n ? 0 : last >= 0 ? fabs(m->S[dae_mech_at(last, last, n)]) : 1;
    *weakest = m->m > 0 ? m->iwork[m->m - 1] - 1 : -1;
    return rank;
}

/* The smallest pivot of those constraints that are independent elsewhere, for m->W. */
double dae_mech_independence(dae_mechanism *m)
{
    int last = m->rank_best - 1;
    if (m->sparse) return NAN;
    factor_rows(m, m->W, m->m, m->m);
    return last >= 0 ? fabs(m->S[dae_mech_at(last, last, m->n)]) : 1;
}

/* After that, where the pivot is nearly zero: y'W = 0 with rows of W of length 1. The rows in the order
 * of pivots are R'Q', so R_11 y = r with r the last column. */
void dae_mech_dependence(const dae_mechanism *m, double *y)
{
    int last = m->rank_best - 1, n = m->n;
    memset(y, 0, (size_t)m->m * sizeof *y);
    for (int i = last; i >= 0; i--) {
        double sum = i == last ? -1 : m->S[dae_mech_at(i, last, n)];
        for (int k = i + 1; k < last; k++) sum -= m->S[dae_mech_at(i, k, n)] * y[m->iwork[k] - 1];
        y[m->iwork[i] - 1] = i == last ? sum : sum / m->S[dae_mech_at(i, i, n)];
    }
}

/* After dae_mech_look. The minimal formulations find the rank anew on the way. */
static void remember_best(dae_mechanism *m)
{
    if (m->sparse || m->rank == 0 || m->rank < m->rank_best) return;
    double pivot = fabs(m->S[dae_mech_at(m->rank - 1, m->rank - 1, m->n)]);
    m->apart = m->rank > m->rank_best ? pivot : fmax(m->apart, pivot);
    m->rank_best = m->rank;
}

void dae_mech_rank(dae_mechanism *m)
{
    int n = m->n, h = m->h, rolling = m->m - h, next = 0;
    m->rank = dae_mech_look(m, &m->pivot, &m->weakest);
    remember_best(m);
    m->rank_h = h;
    if (m->sparse) return;
    set_identity(m);
    if (m->rank == m->m) return;
    memset(m->U, 0, (size_t)m->m * (size_t)m->m * sizeof *m->U);
    m->rank_h = factor_rows(m, m->W, m->m, h);
    restrict_rolling(m, m->rank_h);
    if (h > 0) {
        for (int j = 0; j < n; j++)
            memcpy(m->G + (size_t)j * (size_t)h, m->W + (size_t)j * (size_t)m->m,
                   (size_t)h * sizeof *m->G);
        dae_mech_columns(m, m->G, h, n, m->B);
        put_block(m, 0, h, m->rank_h, m->B, &next);
    }
    if (rolling > 0) {
        dae_mech_columns(m, m->A, rolling, n, m->B);
        put_block(m, h, rolling, m->rank - m->rank_h, m->B, &next);
    }
}

void dae_mech_compress(const dae_mechanism *m, const double *c, double *out)
{
    for (int k = 0; k < m->rank; k++)
        out[k] = m->rank == m->m
                     ? c[k]
                     : dae_mech_dot(m->U + (size_t)m->active[k] * (size_t)m->m, c, m->m);
}

void dae_mech_expand(const dae_mechanism *m, const double *mu, double *lambda)
{
    if (m->rank == m->m) {
        memcpy(lambda, mu, (size_t)m->m * sizeof *lambda);
        return;
    }
    memset(lambda, 0, (size_t)m->m * sizeof *lambda);
    for (int k = 0; k < m->rank; k++)
        for (int i = 0; i < m->m; i++)
            lambda[i] += m->U[dae_mech_at(i, m->active[k], m->m)] * mu[k];
}

void dae_mech_rows(const dae_mechanism *m, int count, const double *c, const double *lambda,
                   double *r)
{
    if (m->rank == m->m) {
        memcpy(r, c, (size_t)count * sizeof *r);
        return;
    }
    int rolling_active = m->rank - m->rank_h;
    for (int k = 0; k < count; k++) {
        const double *u = m->U + (size_t)k * (size_t)m->m;
        int active = k < m->h ? k < m->rank_h : k - m->h < rolling_active;
        r[k] = dae_mech_dot(u, active ? c : lambda, count);
    }
}

void dae_mech_shortest(dae_mechanism *m, double *lambda)
{
    if (m->rank == m->m) return;
    int rank = dae_mech_columns(m, m->W, m->m, m->n, m->B);
    memcpy(m->c, lambda, (size_t)m->m * sizeof(double));
    memset(lambda, 0, (size_t)m->m * sizeof(double));
    for (int k = 0; k < rank; k++) {
        const double *u = m->B + (size_t)k * (size_t)m->m;
        double part = dae_mech_dot(u, m->c, m->m);
        for (int i = 0; i < m->m; i++) lambda[i] += part * u[i];
    }
}

const char *dae_mech_constraint_name(const dae_mechanism *m, int i, char text[64])
{
    if (m->model.constraint_names && i >= 0) return m->model.constraint_names[i];
    snprintf(text, 64, "constraint %d", i + 1);
    return text;
}
