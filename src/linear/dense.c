/* dense.c: dense K + cC by LU with partial pivoting.
 *
 * Up to DAE_DENSE_OWN unknowns with the kernels of dense_kernel.h, beyond with LAPACK in pieces;
 * the factors look the same (whole rows interchanged), so what follows a factorization is
 * written once.
 *
 * The usual path is one pass that forms A = K + cC with the 1-norms of its columns, and
 * the elimination. If the sums are not finite, or a pivot is tiny beside the norm of its
 * column, the matrix is formed again, equilibrated by powers of two in rows and columns,
 * A' = R A S, and factored once more; then A x = b is solved as A' z = R b, x = S z. Only
 * these factors may lead to the verdict "singular": see is_noise().
 */
#include "linear/dense_kernel.h"
#include "linear/dense_pieces.h"
#include "linear/lapack.h"

#include <stdint.h>

/* What is rare stays out of the way of what is not: solve() then needs no stack. */
#define DAE_OUT_OF_LINE __attribute__((noinline))

enum { ALIGNMENT = 64 }; /* of lu.packed: no vector across two cache lines */

typedef struct dense_analysis {
    dae_memory memory;
    dae_matrix pattern;
} dense_analysis;

/* Entry k of the factors is re[k * step] + i im[k * step]: two arrays for our own
 * kernels, pairs for LAPACK. Those of dense_blocks.h have factors of their own. */
typedef struct dense_factor {
    /* What every solution needs first: the kernel to use at once, NULL: scaled, LAPACK */
    int (*quick)(const dae_dense_lu *f, double *x, double *y);
    dae_dense_lu lu;
    const dae_dense_kernels *best, *plain, *used; /* NULL: LAPACK; used: of the factors */
    const dense_analysis *analysis;
    int n, is_complex, own, scaled;
    double *re, *im; /* lu.a and lu.b */
    ptrdiff_t step;
    double *work;                  /* LAPACK, complex: one right side as pairs */
    int *pivot;                    /* LAPACK's interchanges */
    int *row_shift, *column_shift; /* exponents of R and S */
    double *packed;                /* the block of lu.packed */
} dense_factor;

/* ---- objects ---- */

static int analyze(const dae_matrix *pattern, const dae_memory *memory, void **analysis)
{
    *analysis = NULL;
    dense_analysis *a = dae_alloc(memory, 1, sizeof *a);
    if (!a) return DAE_E_NOMEM;
    a->memory = *memory;
    a->pattern = *pattern;
    *analysis = a;
    return DAE_OK;
}

static void release(void *analysis)
{
    dense_analysis *a = analysis;
    if (!a) return;
    dae_memory memory = a->memory;
    dae_free(&memory, a);
}

static void close(void *factor)
{
    dense_factor *f = factor;
    if (!f) return;
    const dae_memory *m = &f->analysis->memory;
    dae_free(m, f->re);
    dae_free(m, f->packed);
    dae_free(m, f->lu.inverse);
    dae_free(m, f->lu.order);
    dae_free(m, f);
}

/* The vectors of f, all memory being there. */
static void place(dense_factor *f, size_t n)
{
    size_t past = (uintptr_t)f->packed % ALIGNMENT;
    f->lu.packed = f->packed + (past ? (ALIGNMENT - past) / sizeof *f->packed : 0);
    f->step = f->is_complex && !f->own ? 2 : 1;
    f->im = f->re + (!f->is_complex ? 0 : f->own ? n * n : 1);
    f->lu.n = f->n;
    f->lu.a = f->re;
    f->lu.b = f->im;
    f->lu.inverse_im = f->lu.inverse + n;
    f->lu.least = f->lu.inverse_im + n;
    f->work = f->lu.least + n;
    f->pivot = f->lu.order + n;
    f->row_shift = f->pivot + n;
    f->column_shift = f->row_shift + n;
}

static int open(void *analysis, int is_complex, void **factor)
{
    dense_analysis *a = analysis;
    size_t n = (size_t)a->pattern.n, parts = is_complex ? 2 : 1;
    *factor = NULL;
    dense_factor *f = dae_alloc(&a->memory, 1, sizeof *f);
    if (!f) return DAE_E_NOMEM;
    f->analysis = a;
    f->n = a->pattern.n;
    f->is_complex = is_complex;
    f->own = f->n <= DAE_DENSE_OWN;
    f->best = f->own ? dae_dense_best(f->n, is_complex) : NULL;
    f->plain = f->own ? dae_dense_plain(is_complex) : NULL;
    f->re = dae_alloc(&a->memory, n * n, parts * sizeof *f->re);
    f->packed = dae_alloc(&a->memory, dae_dense_packed(f->n, is_complex) + ALIGNMENT / 8,
                          sizeof *f->packed);
    f->lu.inverse = dae_alloc(&a->memory, n, 5 * sizeof *f->lu.inverse);
    f->lu.order = dae_alloc(&a->memory, n, 4 * sizeof *f->lu.order);
    if (!f->re || !f->packed || !f->lu.inverse || !f->lu.order) {
        close(f);
        return DAE_E_NOMEM;
    }
    place(f, n);
    *factor = f;
    return DAE_OK;
}

/* ---- the usual path ---- */

/* As form_real, for LAPACK. */
static double form(dense_factor *f, const double *K, const double *C, double c_re, double c_im)
{
    size_t n = (size_t)f->n, step = (size_t)f->step;
    double total = (c_re - c_re) + (c_im - c_im);
    for (size_t j = 0; j < n; j++) {
        const double *k = K + j * n, *c = C + j * n;
        double *re = f->re + j * n * step, *im = f->im + j * n * step, sum = 0;
        for (size_t i = 0; i < n; i++) {
            double x = k[i] + c_re * c[i], y = c_im * c[i];
            im[i * step] = y; /* a real factor has im == re: overwritten at once */
            re[i * step] = x;
            sum += fabs(x) + fabs(y);
        }
        f->lu.least[j] = DAE_PIVOT_SMALLEST + DAE_PIVOT_SUSPICIOUS * sum;
        total += sum;
    }
    return total;
}

static double size_of(const dense_factor *f, int i, int j)
{
    ptrdiff_t k = (i + (ptrdiff_t)j * f->n) * f->step;
    return f->is_complex ? fabs(f->re[k]) + fabs(f->im[k]) : fabs(f->re[k]);
}

/* order[] from LAPACK's list of interchanges, counted from 1. */
static void follow_interchanges(dense_factor *f)
{
    for (int i = 0; i < f->n; i++) f->lu.order[i] = i;
    for (int k = 0; k < f->n; k++) {
        int p = f->pivot[k] - 1, row = f->lu.order[k];
        f->lu.order[k] = f->lu.order[p];
        f->lu.order[p] = row;
    }
}

/* Factors what is in f->re and f->im. Returns the number of good pivots. */
static int eliminate(dense_factor *f)
{
    int n = f->n;
    f->used = f->plain;
    if (f->own) return f->is_complex ? eliminate_complex(n, &f->lu) : eliminate_real(n, &f->lu);
    dae_lu_in_pieces(n, f->is_complex, f->re, f->pivot);
    follow_interchanges(f);
    for (int k = 0; k < n; k++)
        if (!(size_of(f, k, k) > f->lu.least[k])) return k;
    return n;
}

/* ---- the careful path ---- */

/* A' = R A S, every column of size one. Its pivots need only be nonzero. */
static void form_scaled(dense_factor *f, const dae_sum *a)
{
    for (int j = 0; j < f->n; j++) {
        for (int i = 0; i < f->n; i++) {
            int64_t k = i + (int64_t)j * f->n;
            int shift = f->row_shift[i] + f->column_shift[j];
            if (f->is_complex) f->im[k * f->step] = ldexp(dae_sum_im(a, k), shift);
            f->re[k * f->step] = ldexp(dae_sum_re(a, k), shift);
        }
        f->lu.least[j] = DAE_PIVOT_SMALLEST;
    }
}

/* Stage k had to choose among the values l_ik u_kk, i >= k (with l_kk = 1), each computed
 * as
 *     a_ik - sum_{m < k} l_im u_mk
 * with an error of a rounding or two of |a_ik| + sum |l_im| |u_mk|. The stage met only
 * noise if no value exceeds its own error. Cancellation is what makes a matrix singular,
 * not small pivots: the pivots 1/c^2 of an index-3 system are as accurate as any other.
 * */
static int is_noise(const dense_factor *f, const dae_sum *a, int k)
{
    double pivot = size_of(f, k, k), part = dae_pivot_noise(f->n);
    for (int i = k; i < f->n; i++) {
        int64_t place = f->lu.order[i] + (int64_t)k * f->n;
        int shift = f->row_shift[f->lu.order[i]] + f->column_shift[k];
        double value = i == k ? pivot : size_of(f, i, k) * pivot;
        double terms = ldexp(fabs(dae_sum_re(a, place)) + fabs(dae_sum_im(a, place)), shift);
        for (int m = 0; m < k; m++) terms += size_of(f, i, m) * size_of(f, m, k);
        if (value > part * terms) return 0;
    }
    return 1;
}

static int factor_carefully(dense_factor *f, const dae_sum *a, dae_factor_info *info)
{
    int status = dae_sum_check(a, info);
    if (status) return status;
    status = dae_sum_equilibrate(a, f->row_shift, f->column_shift, info);
    if (status) return status;
    form_scaled(f, a);
    f->scaled = 1;
    int reached = eliminate(f);
    for (int k = 0; k < reached; k++)
        if (size_of(f, k, k) < DAE_PIVOT_SUSPICIOUS && is_noise(f, a, k)) reached = k;
    if (reached == f->n) return DAE_OK;
    info->row = f->lu.order[reached];
    info->column = reached;
    return DAE_E_SINGULAR;
}

/* Smallest over largest |u_kk|: cheap, and as crude as klu_rcond. */
static double estimate_rcond(const dense_factor *f)
{
    double smallest = INFINITY, largest = 0;
    if (f->own) {
        smallest = f->lu.smallest; /* our own kernels have seen them */
        largest = f->lu.largest;
    }
    for (int k = 0; k < f->n && !f->own; k++) {
        double u = size_of(f, k, k);
        if (u < smallest) smallest = u;
        if (u > largest) largest = u;
    }
    return largest > 0 ? smallest / largest : 1;
}

/* When the kernel refused, or there is none. */
static DAE_OUT_OF_LINE int factor_otherwise(dense_factor *f, const dae_sum *a,
                                            dae_factor_info *info)
{
    int reached = -1;
    f->quick = NULL;
    if (!f->own && form(f, a->K, a->C, a->c_re, a->c_im) < DAE_SUM_LARGEST) reached = eliminate(f);
    if (reached < f->n) {
        int status = factor_carefully(f, a, info);
        if (status == DAE_E_SINGULAR) info->rcond = 0;
        if (status) return status;
    }
    info->rcond = estimate_rcond(f);
    return DAE_OK;
}

static int factor(void *factor_, const double *K, const double *C, double c_re, double c_im,
                  dae_factor_info *info)
{
    dense_factor *f = factor_;
    if (!f->is_complex) c_im = 0;
    *info = (dae_factor_info){ .row = -1, .column = -1, .rcond = -1 };
    f->scaled = 0;
    if (f->own && f->best->factor(&f->lu, K, C, c_re, c_im) == f->n) {
        f->used = f->best;
        f->quick = f->best->solve;
        info->rcond = f->n ? f->lu.smallest / f->lu.largest : 1;
        return DAE_OK;
    }
    return factor_otherwise(f, &(dae_sum){ &f->analysis->pattern, K, C, c_re, c_im }, info);
}

/* ---- solving ---- */

static DAE_OUT_OF_LINE int solve_own(const dense_factor *f, double *re, double *im, int count,
                                     int transposed)
{
    int (*kernel)(const dae_dense_lu *lu, double *x, double *y) =
        transposed ? f->used->solve_transposed : f->used->solve;
    for (int q = 0; q < count; q++) {
        kernel(&f->lu, re, im);
        re += f->n;
        im = im ? im + f->n : NULL;
    }
    return DAE_OK;
}

static void solve_lapack(const dense_factor *f, double *re, double *im, int count, int transposed)
{
    int n = f->n, one = 1, info = 0;
    const char *op = transposed ? "T" : "N";
    if (!f->is_complex) {
        dgetrs_(op, &n, &count, f->re, &n, f->pivot, re, &n, &info, 1);
        return;
    }
    for (int q = 0; q < count; q++, re += n, im += n) {
        for (int i = 0; i < n; i++) {
            f->work[2 * i] = re[i];
            f->work[2 * i + 1] = im[i];
        }
        zgetrs_(op, &n, &one, f->re, &n, f->pivot, f->work, &n, &info, 1);
        for (int i = 0; i < n; i++) {
            re[i] = f->work[2 * i];
            im[i] = f->work[2 * i + 1];
        }
    }
}

static DAE_OUT_OF_LINE int solve_general(const dense_factor *f, double *re, double *im, int count,
                                         int transposed)
{
    const int *before = transposed ? f->column_shift : f->row_shift;
    const int *after = transposed ? f->row_shift : f->column_shift;
    if (!f->is_complex) im = NULL;
    if (f->scaled) {
        dae_shift(re, before, f->n, count);
        dae_shift(im, before, f->n, count);
    }
    if (f->own)
        solve_own(f, re, im, count, transposed);
    else
        solve_lapack(f, re, im, count, transposed);
    if (f->scaled) {
        dae_shift(re, after, f->n, count);
        dae_shift(im, after, f->n, count);
    }
    return DAE_OK;
}

static int solve(void *factor_, double *re, double *im, int count, int transposed)
{
    const dense_factor *f = factor_;
    if (f->quick && !transposed && count == 1) return f->quick(&f->lu, re, im);
    if (f->quick) return solve_own(f, re, im, count, transposed);
    return solve_general(f, re, im, count, transposed);
}

const dae_linear dae_linear_dense = {
    .name = "dense",
    .description = "LU with partial pivoting: own kernels up to 50 unknowns, then LAPACK",
    .can = DAE_LINEAR_COMPLEX | DAE_LINEAR_TRANSPOSED,
    .kind = DAE_PATTERN_DENSE,
    .analyze = analyze,
    .open = open,
    .factor = factor,
    .solve = solve,
    .close = close,
    .release = release,
};
