/* rank.c: ranks by singular values, and the record of how close the decisions were. */
#include "analysis/analysis.h"
#include "linear/lapack.h"

#include <math.h>
#include <string.h>

enum { PANEL = 64 }; /* columns turned at a time */

dae_status dae_svd_open(dae_svd *d, int rows, int columns, double tolerance,
                        const dae_memory *memory)
{
    size_t m = (size_t)rows, n = (size_t)columns, small = m < n ? m : n;
    size_t large = m < n ? n : m;
    d->rows = rows;
    d->columns = columns;
    d->tolerance = tolerance;
    dae_svd_forget(d);
    size_t lwork = 4 * small * small + 7 * small + 64 * large + 64;
    if (lwork > 2000000000) return DAE_E_NOMEM;
    d->lwork = (int)lwork;
    dae_vector_wish wish[] = {
        { &d->U, m * m },    { &d->s, small },
        { &d->Vt, n * n },   { &d->copy, m * (n > PANEL ? n : PANEL) },
        { &d->work, lwork },
    };
    d->vectors = dae_alloc_vectors(memory, wish, sizeof wish / sizeof *wish);
    d->iwork = dae_alloc(memory, 8 * small + 8, sizeof(int));
    return d->vectors && d->iwork ? DAE_OK : DAE_E_NOMEM;
}

void dae_svd_forget(dae_svd *d)
{
    d->weakest = (dae_rank){ .kept = INFINITY };
    d->gap = INFINITY;
    d->near = (dae_rank){ 0 };
}

void dae_svd_close(dae_svd *d, const dae_memory *memory)
{
    dae_free(memory, d->vectors);
    dae_free(memory, d->iwork);
    d->vectors = NULL;
    d->iwork = NULL;
}

/* How far apart kept and dropped are; nothing is known more exactly than `blur`. */
static void judge(dae_svd *d, const dae_rank *r)
{
    if (r->rows == 0 || r->columns == 0) return;
    double known = fmax(30 * d->grain, fmax(d->blur, 1e-13));
    double gap = fmin(r->kept, 1) / fmax(r->dropped, known);
    if (d->weakest.rows == 0 || gap < d->gap) {
        d->weakest = *r;
        d->gap = gap;
    }
    /* with a tolerance some ten times larger or a hundred times smaller the rank is another */
    double low = fmax(1e-2 * d->tolerance, 30 * d->blur), high = 30 * d->tolerance;
    if (30 * d->grain >= d->tolerance) /* what rounding explains could be an entry as well */
        low = fmin(low, 1e-2 * d->grain);
    if (!d->by_gap && d->near.rows == 0 && (r->dropped > low || r->kept < high)) d->near = *r;
}

static void identity(int n, double *A)
{
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    for (size_t i = 0; i < (size_t)n; i++) A[i + i * (size_t)n] = 1;
}

/* Where the values fall most, among those that could be rounding */
static int widest_gap(const dae_svd *d, int small)
{
    const double could_be = 1e-3;
    double widest = 0, least = fmax(d->blur, 1e-13);
    int rank = 0;
    for (int r = small; r > 0 && (r == small || d->s[r] < could_be); r--) {
        double gap = fmin(d->s[r - 1], 1) / fmax(r < small ? d->s[r] : 0, least);
        if (gap > widest) {
            widest = gap;
            rank = r;
        }
    }
    return small > 0 && d->s[0] < could_be && 1 / fmax(d->s[0], least) > widest ? 0 : rank;
}

/* The rank that the singular values at hand tell, of an m x n matrix */
static int decide(dae_svd *d, int m, int n)
{
    int rank = 0, small = m < n ? m : n;
    while (rank < small && d->s[rank] > d->tolerance) rank++;
    if (d->by_gap) rank = widest_gap(d, small);
    d->dropped = rank < small ? d->s[rank] : -1;
    judge(d, &(dae_rank){ .rows = m,
                          .columns = n,
                          .rank = rank,
                          .kept = rank ? d->s[rank - 1] : INFINITY,
                          .dropped = rank < small ? d->s[rank] : 0 });
    return rank;
}

int dae_svd_values(dae_svd *d, int m, int n, int small)
{
    int info = 0, one = 1;
    dgesdd_("N", &small, &n, d->copy, &small, d->s, NULL, &one, NULL, &one, d->work, &d->lwork,
            d->iwork, &info, 1);
    return info == 0 ? decide(d, m, n) : -1;
}

int dae_svd_rank(dae_svd *d, int m, int n, const double *A, int lda)
{
    int info = 0, small = m < n ? m : n;
    if (small == 0) {
        identity(m, d->U);
        identity(n, d->Vt);
        return 0;
    }
    for (int j = 0; j < n; j++)
        memcpy(d->copy + (size_t)j * (size_t)m, A + (size_t)j * (size_t)lda, (size_t)m * sizeof *A);
    dgesdd_("A", &m, &n, d->copy, &m, d->s, d->U, &m, d->Vt, &n, d->work, &d->lwork, d->iwork,
            &info, 1);
    return info == 0 ? decide(d, m, n) : -1;
}

void dae_svd_turn_rows(dae_svd *d, int m, int columns, double *B, int ldb)
{
    const double one = 1, zero = 0;
    for (int first = 0; first < columns; first += PANEL) {
        int count = columns - first < PANEL ? columns - first : PANEL;
        double *panel = B + (size_t)first * (size_t)ldb;
        for (int j = 0; j < count; j++)
            memcpy(d->copy + (size_t)j * (size_t)m, panel + (size_t)j * (size_t)ldb,
                   (size_t)m * sizeof *B);
        dgemm_("T", "N", &m, &count, &m, &one, d->U, &m, d->copy, &m, &zero, panel, &ldb, 1, 1);
    }
}
