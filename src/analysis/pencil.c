/* pencil.c: the Kronecker structure of s C + K, for constant matrices.
 *
 * The staircase of Van Dooren, in the form of Demmel and Kagstrom. With the columns V of the
 * kernel of C in front, C V = (0, C_2), and rows turned so that U' K V_1 = (R; 0) with R of full
 * row rank,
 *
 *                      | R   *               |     nu  = dim ker C  (columns of R)
 *     U' (s C + K) V = | 0   s C' + K'       |     rho = rank R     (rows of R)
 *
 * and once more with s C' + K', until C' has no kernel: nu_0 >= rho_0 >= nu_1 >= rho_1 ..; and
 *
 *     nu_j - rho_j       column minimal indices equal to j
 *     rho_j - nu_{j+1}   blocks of size j + 1 at infinity
 *
 * The same with the transposed rest gives the row minimal indices; what remains is square, with a
 * nonsingular C, and its eigenvalues are those of QZ. All turns are orthogonal. The pencil
 * is regular if there are no minimal indices, and its index is the size of the largest block at
 * infinity. That does not use the derivative array: it is a second opinion.
 */
#include "analysis/analysis.h"
#include "linear/lapack.h"

#include <math.h>
#include <string.h>

typedef struct staircase {
    int m, n; /* of what is left of the pencil */
    size_t ld;
    double *C, *K, *turned;
    dae_svd svd;
} staircase;

static void multiply(const char *op_a, const char *op_b, int m, int n, int k, const double *A,
                     size_t lda, const double *B, size_t ldb, double *out, size_t ldo)
{
    const double one = 1, zero = 0;
    int a = (int)lda, b = (int)ldb, o = (int)ldo;
    if (m > 0 && n > 0 && k > 0)
        dgemm_(op_a, op_b, &m, &n, &k, &one, A, &a, B, &b, &zero, out, &o, 1, 1);
}

/* X := X V with the kernel's columns first; Vt has them last. */
static void turn_columns(staircase *p, double *X, int rank)
{
    int m = p->m, n = p->n, nullity = n - rank;
    multiply("N", "T", m, n, n, X, p->ld, p->svd.Vt, (size_t)n, p->turned, p->ld);
    for (int j = 0; j < n; j++)
        memcpy(X + (size_t)(j < rank ? j + nullity : j - rank) * p->ld,
               p->turned + (size_t)j * p->ld, (size_t)m * sizeof *X);
}

/* Drops the first rows and columns. */
static void shrink(staircase *p, double *X, int rows, int columns)
{
    for (int j = columns; j < p->n; j++)
        memmove(X + (size_t)(j - columns) * p->ld, X + (size_t)j * p->ld + rows,
                (size_t)(p->m - rows) * sizeof *X);
}

/* One stair: 1 and its width and height; 0: C has no kernel; -1: no convergence. */
static int stair(staircase *p, int *nu, int *rho)
{
    int rank = dae_svd_rank(&p->svd, p->m, p->n, p->C, (int)p->ld);
    if (rank < 0 || rank == p->n) return rank < 0 ? -1 : 0;
    *nu = p->n - rank;
    turn_columns(p, p->K, rank);
    turn_columns(p, p->C, rank);
    *rho = dae_svd_rank(&p->svd, p->m, *nu, p->K, (int)p->ld);
    if (*rho < 0) return -1;
    dae_svd_turn_rows(&p->svd, p->m, p->n, p->K, (int)p->ld);
    dae_svd_turn_rows(&p->svd, p->m, p->n, p->C, (int)p->ld);
    shrink(p, p->K, *rho, *nu);
    shrink(p, p->C, *rho, *nu);
    p->m -= *rho;
    p->n -= *nu;
    return 1;
}

static void count(int *counts, int size, int more)
{
    if (more > 0) counts[size] += more; /* n at most */
}

/* All stairs; minimal[j] and infinite[j] are counted. */
static int descend(staircase *p, int *minimal, int *infinite)
{
    int nu = 0, rho = 0, before = 0, answer = 1;
    for (int j = 0; answer == 1; j++, before = rho) {
        nu = 0;
        answer = p->n > 0 ? stair(p, &nu, &rho) : 0;
        if (j > 0 && answer >= 0) count(infinite, j, before - nu);
        if (answer == 1) count(minimal, j, nu - rho);
    }
    return answer;
}

static void transpose(staircase *p, double *X)
{
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->m; i++)
            p->turned[(size_t)j + (size_t)i * p->ld] = X[(size_t)i + (size_t)j * p->ld];
    memcpy(X, p->turned, p->ld * p->ld * sizeof *X);
}

/* The eigenvalues of the rest: s C + K singular, alpha / beta of (-K, C). */
static int finite_part(dae_analysis *a, staircase *p, double *work, int lwork)
{
    int n = p->m, ld = (int)p->ld, one = 1, info = 0;
    double *re = a->eigenvalues, *im = re + a->facts.size, *beta = p->turned;
    if (n == 0) return 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) p->K[(size_t)i + (size_t)j * p->ld] *= -1;
    dggev_("N", "N", &n, p->K, &ld, p->C, &ld, re, im, beta, NULL, &one, NULL, &one, work, &lwork,
           &info, 1, 1);
    double H = a->series.H * a->series.rank_time;
    for (int i = 0; i < n; i++) { /* C is in units of H */
        re[i] /= beta[i] * H;
        im[i] /= beta[i] * H;
    }
    return info;
}

int dae_pencil_sizes(int n)
{
    return n > DAE_ANALYSIS_LEVELS ? n : DAE_ANALYSIS_LEVELS;
}

static int structure(dae_analysis *a, staircase *p, double *work, int lwork)
{
    dae_pencil_facts *f = &a->pencil;
    int room = dae_pencil_sizes(a->facts.size) + 1;
    int *infinite = a->blocks, *columns = infinite + room, *rows = columns + room;
    int *none = rows + room;
    if (descend(p, columns, infinite) < 0) return -1;
    transpose(p, p->C);
    transpose(p, p->K);
    int keep = p->m;
    p->m = p->n;
    p->n = keep;
    if (descend(p, rows, none) < 0 || p->m != p->n) return -1;
    f->finite = p->m;
    f->regular = 1;
    f->sizes = DAE_ANALYSIS_LEVELS;
    for (int k = 0; k < room; k++) {
        if (columns[k] || rows[k]) f->regular = 0;
        if (infinite[k]) f->index = k;
        if (k > f->sizes && (columns[k] || rows[k] || infinite[k])) f->sizes = k;
    }
    f->infinite = infinite;
    f->columns = columns;
    f->rows = rows;
    f->real = a->eigenvalues;
    f->imaginary = a->eigenvalues + a->facts.size;
    f->weakest = p->svd.weakest;
    return finite_part(a, p, work, lwork);
}

dae_status dae_pencil_run(dae_analysis *a)
{
    size_t n = (size_t)a->facts.size, square = n * n;
    const dae_series *s = &a->series;
    staircase p = { .m = (int)n, .n = (int)n, .ld = n };
    int lwork = 16 * (int)n + 64, answer = -1;
    double *block = dae_alloc(&a->memory, 3 * square + (size_t)lwork, sizeof *block);
    dae_status status = dae_svd_open(&p.svd, (int)n, (int)n, a->facts.tolerance, &a->memory);
    if (block && status == DAE_OK) {
        p.C = block;
        p.K = p.C + square;
        p.turned = p.K + square;
        for (size_t k = 0; k < square; k++) {
            double unit = s->rank_row[k % n] * s->rank_column[k / n];
            p.C[k] = unit / s->rank_time * s->C[k];
            p.K[k] = unit * s->K[k];
        }
        answer = structure(a, &p, p.turned + square, lwork);
        a->has_pencil = answer == 0;
    } else {
        status = dae_analysis_no_memory(a, "the pencil");
    }
    dae_svd_close(&p.svd, &a->memory);
    dae_free(&a->memory, block);
    return status;
}
