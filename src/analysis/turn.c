/* turn.c: a block of rows brought to as many as its rank, the others left without it.
 *
 *     Q' B = | L V' |    rank rows, L lower triangular, the rows of V' orthonormal
 *            |  0   |    what is below the tolerance
 *
 * from a QR factorization with column pivoting (Businger and Golub) and an LQ factorization of
 * its first rows: a complete orthogonal decomposition. The rank is not read off the triangle: it
 * is decided by the singular values of B, which are those of the triangle. Four times as quick as
 * all singular vectors, and Q stays in factored form, to be applied to further right sides.
 */
#include "analysis/analysis.h"
#include "linear/lapack.h"

#include <math.h>
#include <string.h>

/* The triangle R (k x n) of the factors, columns where they were: row i, column pivot[j] - 1 */
static void unpivot(const dae_turn *t, int rows, double *out, int ldo)
{
    for (int j = 0; j < t->n; j++) {
        double *column = out + (size_t)(t->pivot[j] - 1) * (size_t)ldo;
        for (int i = 0; i < rows; i++)
            column[i] = i <= j ? t->Q[(size_t)i + (size_t)j * (size_t)t->m] : 0;
    }
}

/* L and V' from the first rows of the triangle; V' is completed to a square matrix. */
static int split(dae_turn *t, dae_svd *d, const double *unit)
{
    int info = 0, n = t->n, r = t->rank;
    double *tau = d->s; /* the singular values have been judged */
    unpivot(t, r, t->Vt, n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < r; i++) t->Vt[(size_t)i + (size_t)j * (size_t)n] /= unit[j];
    dgelqf_(&r, &n, t->Vt, &n, tau, d->work, &d->lwork, &info);
    for (int j = 0; j < r && info == 0; j++)
        for (int i = j; i < r; i++)
            t->L[(size_t)i + (size_t)j * (size_t)n] = t->Vt[(size_t)i + (size_t)j * (size_t)n];
    if (info == 0) dorglq_(&n, &n, &r, t->Vt, &n, tau, d->work, &d->lwork, &info);
    return info;
}

int dae_turn_make(dae_turn *t, dae_svd *d, int m, const double *B, int ldb, int forced,
                  const double *unit)
{
    int info = 0, n = t->n, small = m < n ? m : n, *pivot = t->pivot;
    t->m = m;
    t->rank = 0;
    memset(t->Vt, 0, (size_t)n * (size_t)n * sizeof *t->Vt);
    if (small > 0) {
        for (int j = 0; j < n; j++)
            memcpy(t->Q + (size_t)j * (size_t)m, B + (size_t)j * (size_t)ldb,
                   (size_t)m * sizeof *B);
        memset(pivot, 0, (size_t)n * sizeof *pivot);
        dgeqp3_(&m, &n, t->Q, &m, pivot, t->tau, d->work, &d->lwork, &info);
        unpivot(t, small, d->copy, small);
        if (forced >= 0)
            d->dropped = forced < small ? fabs(t->Q[(size_t)forced * (size_t)(m + 1)]) : -1;
        t->rank = info != 0 ? -1 : forced >= 0 ? forced : dae_svd_values(d, m, n, small);
    }
    if (t->rank >= 0 && split(t, d, unit) != 0) t->rank = -1;
    return t->rank;
}

void dae_turn_rows(const dae_turn *t, dae_svd *d, int columns, double *B, int ldb)
{
    int info = 0, small = t->m < t->n ? t->m : t->n;
    const double one = 1;
    if (small == 0 || columns == 0) return;
    dormqr_("L", "T", &t->m, &columns, &small, t->Q, &t->m, t->tau, B, &ldb, d->work, &d->lwork,
            &info, 1, 1);
    if (t->rank > 0)
        dtrsm_("L", "L", "N", "N", &t->rank, &columns, &one, t->L, &t->n, B, &ldb, 1, 1, 1, 1);
}
