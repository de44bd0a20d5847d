/* maggi.c: minimal velocities (Maggi 1901, Kane).
 *
 * With N0 (n x k, k = n - rank) such that B(q) = [W(q); N0'] is regular, any admissible
 * velocity is v = T e + t with B T = [0; 1], B t = [-rate; 0], and e = N0' v. N0 is
 * constant over a part of the motion, so T(q) is as smooth as W and W a + bias = 0 gives,
 * without a derivative of T,
 *
 *     a = T e' + B^-1 [-bias; 0],        T' M T e' = T' (f - M B^-1 [-bias; 0]),
 *
 * T'W' = 0 having removed the multipliers. (The shorter a = Q2 e' + Q1 p'' of the
 * literature, with T = Q2(q), leaves out Q2'.) What differs between the formulations is
 * N0:
 *
 *   partition        unit vectors: e are the velocities of n - rank coordinates, those
 *                    which QR with column pivoting of W leaves over (Wehage, Haug 1982)
 *   qr               the last columns of Q in W' = Q R (Kim, Vanderploeg 1986)
 *   svd              the right singular vectors for zero (Singh, Likins 1985)
 *   zero-eigenvalue  the eigenvectors of W'W for zero (Walton, Steeves 1969); squares the
 *                    condition, which costs nothing for a basis that need not be exact
 *   gram-schmidt     rows of W orthogonalized, then completed by unit vectors (Liang,
 *                    Lance 1987)
 *
 * As W(q) turns, B worsens. When its reciprocal condition has fallen to `renew` of that
 * at the reference position, dae_mechanism_refresh takes a new N0, and on this occasion q
 * goes back to phi = 0. A step that would lead beyond `refuse` is asked to be shorter:
 * large steps went through the singular B and out on its other side, with 1e-5 where 1e-9
 * was asked for.
 */
#include "constraint/mechanism.h"
#include "linear/lapack.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

int dae_mech_partition(dae_mechanism *m, double *N0)
{
    int rows = m->m, n = m->n, info = 0, next = 0;
    memset(N0, 0, (size_t)n * (size_t)n * sizeof *N0);
    memset(m->iwork, 0, (size_t)n * sizeof(int));
    if (rows > 0) {
        memcpy(m->S, m->W, (size_t)rows * (size_t)n * sizeof(double));
        dgeqp3_(&rows, &n, m->S, &rows, m->iwork, m->kkt_b, m->lapack, &m->lapack_size, &info);
    }
    for (int j = 0; j < n; j++) {
        int dependent = 0;
        for (int k = 0; k < m->rank; k++) dependent |= m->iwork[k] - 1 == j;
        if (!dependent) N0[dae_mech_at(j, next++, n)] = 1;
    }
    return info;
}

static void transpose(const dae_mechanism *m, double *out)
{
    for (int i = 0; i < m->m; i++)
        for (int j = 0; j < m->n; j++) out[dae_mech_at(j, i, m->n)] = m->W[dae_mech_at(i, j, m->m)];
}

static void identity(double *A, int n)
{
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    for (size_t i = 0; i < (size_t)n; i++) A[i + i * (size_t)n] = 1;
}

int dae_mech_null_qr(dae_mechanism *m, double *N0)
{
    size_t n = (size_t)m->n, rank = (size_t)m->rank;
    if (m->m == 0) {
        identity(N0, m->n);
        return 0;
    }
    transpose(m, m->T);
    dae_mech_columns(m, m->T, m->n, m->m, m->B);
    memcpy(N0, m->B + rank * n, (n - rank) * n * sizeof *N0);
    return 0;
}

int dae_mech_null_svd(dae_mechanism *m, double *N0)
{
    int rows = m->m, n = m->n, info = 0, one = 1;
    double none;
    if (rows == 0) {
        identity(N0, n);
        return 0;
    }
    memcpy(m->S, m->W, (size_t)rows * (size_t)n * sizeof(double));
    dgesvd_("N", "A", &rows, &n, m->S, &rows, m->kkt_b, &none, &one, m->B, &n, m->lapack,
            &m->lapack_size, &info);
    for (int k = m->rank; k < n; k++)
        for (int j = 0; j < n; j++) N0[dae_mech_at(j, k - m->rank, n)] = m->B[dae_mech_at(k, j, n)];
    return info;
}

int dae_mech_null_eigen(dae_mechanism *m, double *N0)
{
    int n = m->n, info = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            m->S[dae_mech_at(i, j, n)] = dae_mech_dot(m->W + (size_t)i * (size_t)m->m,
                                                      m->W + (size_t)j * (size_t)m->m, m->m);
    dsyev_("V", "U", &n, m->S, &n, m->kkt_b, m->lapack, &m->lapack_size, &info, 1, 1);
    memcpy(N0, m->S, (size_t)n * (size_t)(n - m->rank) * sizeof *N0); /* smallest first */
    return info;
}

/* What is left of w beside the `count` orthonormal columns of Q; twice is enough. */
static double remainder_of(const double *Q, int n, int count, double *w)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            const double *u = Q + (size_t)k * (size_t)n;
            double part = dae_mech_dot(u, w, n);
            for (int i = 0; i < n; i++) w[i] -= part * u[i];
        }
    return sqrt(dae_mech_dot(w, w, n));
}

int dae_mech_null_gram_schmidt(dae_mechanism *m, double *N0)
{
    int n = m->n, count = 0;
    double *Q = m->B, *w = m->kkt_b;
    for (int i = 0; i < m->m && count < m->rank; i++) {
        for (int j = 0; j < n; j++) w[j] = m->W[dae_mech_at(i, j, m->m)];
        double before = sqrt(dae_mech_dot(w, w, n)), left = remainder_of(Q, n, count, w);
        for (int j = 0; left > 1e-6 * before && j < n; j++)
            Q[dae_mech_at(j, count, n)] = w[j] / left;
        count += left > 1e-6 * before;
    }
    while (count < n) { /* the unit vector that is farthest from what there is */
        int best = 0;
        double most = -1;
        for (int j = 0; j < n; j++) {
            double in = 0;
            for (int k = 0; k < count; k++) in += Q[dae_mech_at(j, k, n)] * Q[dae_mech_at(j, k, n)];
            if (1 - in > most) {
                most = 1 - in;
                best = j;
            }
        }
        memset(w, 0, (size_t)n * sizeof *w);
        w[best] = 1;
        double left = remainder_of(Q, n, count, w);
        for (int j = 0; j < n; j++) Q[dae_mech_at(j, count, n)] = w[j] / left;
        count++;
    }
    memcpy(N0, Q + (size_t)m->rank * (size_t)n, (size_t)n * (size_t)(n - m->rank) * sizeof *N0);
    return 0;
}

/* ---- B ---- */

/* For one constraint in the plane these are angles of 73 and 84 degrees from the
 * reference. */
static const double renew = 0.3, refuse = 0.1;

/* Factors of [U_active' W; N0']; answers its reciprocal condition, 0: singular. */
static double factor_base(dae_mechanism *m)
{
    int n = m->n, free = n - m->rank, info = 0;
    double size = 0, rcond = 0;
    for (int j = 0; j < n; j++) {
        double *column = m->B + (size_t)j * (size_t)n, sum = 0;
        dae_mech_compress(m, m->W + (size_t)j * (size_t)m->m, column);
        for (int k = 0; k < free; k++) column[m->rank + k] = m->N0[dae_mech_at(j, k, n)];
        for (int i = 0; i < n; i++) sum += fabs(column[i]);
        size = sum <= size ? size : sum;
    }
    if (!isfinite(size)) return 0;
    dgetrf_(&n, &n, m->B, &n, m->pivots, &info);
    if (info) return 0;
    dgecon_("1", &n, m->B, &n, &size, &rcond, m->lapack, m->iwork, &info, 1);
    return rcond;
}

static void solve_base(dae_mechanism *m, int count, double *b)
{
    int info = 0;
    dgetrs_("N", &m->n, &count, m->B, &m->n, m->pivots, b, &m->n, &info, 1);
}

/* U, rank and N0 for this position. */
int dae_mech_base(dae_mechanism *m, double t, const double *q)
{
    int answer = dae_mech_matrix(m, t, q, m->W);
    if (answer != DAE_OK) return answer;
    dae_mech_rank(m);
    if (m->form->null_space(m, m->N0)) return DAE_RETRY;
    m->rcond0 = factor_base(m);
    m->based = 1;
    return m->rcond0 > 0 ? DAE_OK : DAE_RETRY;
}

/* b := [-U' c; e] with e NULL: 0 */
static void right_side(const dae_mechanism *m, const double *c, const double *e, double *b)
{
    dae_mech_compress(m, c, b);
    for (int k = 0; k < m->rank; k++) b[k] = -b[k];
    for (int k = m->rank; k < m->n; k++) b[k] = e ? e[k - m->rank] : 0;
}

/* The factors of B are left behind. */
int dae_mech_minimal_velocity(dae_mechanism *m, double t, const double *q, const double *e,
                              double *v)
{
    int answer = dae_mech_matrix(m, t, q, m->W);
    if (answer == DAE_OK) answer = dae_mech_rate(m, t, q, m->rate);
    if (answer != DAE_OK) return answer;
    double rcond = factor_base(m);
    if (!(rcond > 0) || rcond < refuse * m->rcond0) return DAE_RETRY;
    right_side(m, m->rate, e, v);
    solve_base(m, 1, v);
    return DAE_OK;
}

/* m->f := all forces beside the reactions */
static int forces(dae_mechanism *m, double t, const double *q, const double *v)
{
    int answer;
    if (!m->model.friction) return dae_mech_force(m, t, q, v, m->f);
    answer = dae_mech_accelerate(m, t, q, v, NULL, m->a_side, m->lambda_side);
    if (answer == DAE_OK)
        answer = m->model.friction(t, q, v, m->lambda_side, m->f_side, m->model.user);
    for (int i = 0; i < m->n; i++) m->f[i] += m->f_side[i];
    return answer;
}

/* T' M T e' = T' (f - M a0); T in m->T, a0 in m->a_side */
static int reduced_equations(dae_mechanism *m, double *e_dot)
{
    int n = m->n, k = n - m->rank, one = 1, info = 0;
    size_t bytes = (size_t)n * sizeof(double);
    dae_mech_add_product(m->M, n, n, -1, m->a_side, m->f);
    for (int j = 0; j < k; j++) {
        double *Tj = m->T + (size_t)j * (size_t)n;
        memset(m->v_side, 0, bytes);
        dae_mech_add_product(m->M, n, n, 1, Tj, m->v_side);
        for (int i = 0; i < k; i++)
            m->S[dae_mech_at(i, j, k)] = dae_mech_dot(m->T + (size_t)i * (size_t)n, m->v_side, n);
        e_dot[j] = dae_mech_dot(Tj, m->f, n);
    }
    if (k == 0) return DAE_OK;
    dgetrf_(&k, &k, m->S, &k, m->iwork, &info);
    if (info) return DAE_RETRY;
    dgetrs_("N", &k, &one, m->S, &k, m->iwork, e_dot, &k, &info, 1);
    return DAE_OK;
}

int dae_mech_minimal_rhs(dae_mechanism *m, double t, const double *x, double *f)
{
    int n = m->n, k = n - m->rank;
    const double *e = x + n;
    double *v = f;
    int answer = dae_mech_minimal_velocity(m, t, x, e, v);
    if (answer == DAE_OK) answer = forces(m, t, x, v);
    if (answer == DAE_OK && m->model.friction)
        answer = factor_base(m) > 0 ? DAE_OK : DAE_RETRY; /* its pivots were used */
    if (answer == DAE_OK) answer = dae_mech_bias(m, t, x, v, m->bias);
    if (answer == DAE_OK) answer = dae_mech_mass(m, t, x, m->M);
    if (answer != DAE_OK) return answer;
    right_side(m, m->bias, NULL, m->a_side);
    solve_base(m, 1, m->a_side);
    memset(m->T, 0, (size_t)n * (size_t)k * sizeof(double));
    for (int j = 0; j < k; j++) m->T[dae_mech_at(m->rank + j, j, n)] = 1;
    if (k > 0) solve_base(m, k, m->T);
    return reduced_equations(m, f + n);
}

dae_status dae_mechanism_refresh(dae_mechanism *m, double t, double *x)
{
    if (!m || !x) return DAE_E_ARG;
    dae_report_clear(&m->report);
    if (!(m->form->parts & MECH_MINIMAL) || !m->based) return DAE_OK;
    int rank = m->rank, answer = dae_mech_minimal_velocity(m, t, x, x + m->n, m->r_low);
    if (answer != DAE_OK) return dae_mech_said(m, answer, "dae_mechanism_refresh", t);
    if (factor_base(m) >= renew * m->rcond0) return DAE_OK;
    double *q = m->values, *v = m->r_low;
    memcpy(q, x, (size_t)m->n * sizeof *q);
    answer = dae_mech_to_position(m, t, q, NULL);
    if (answer == DAE_OK) answer = dae_mech_base(m, t, q);
    if (answer == DAE_OK && m->rank != rank) {
        dae_fail(&m->report, DAE_E_SINGULAR, "the number of independent constraints changed");
        dae_at(&m->report, "t = %.10g", t);
        dae_why(&m->report, "it was %d and is %d", rank, m->rank);
        dae_hint(&m->report, "pack the state anew and open another solver");
        return DAE_E_SINGULAR;
    }
    if (answer != DAE_OK) return dae_mech_said(m, answer, "dae_mechanism_refresh", t);
    memcpy(x, q, (size_t)m->n * sizeof *x);
    for (int k = 0; k < m->n - m->rank; k++)
        x[m->n + k] = dae_mech_dot(m->N0 + (size_t)k * (size_t)m->n, v, m->n);
    return DAE_EVENT;
}
