/* band.c: band K + cC by LU with partial pivoting.
 *
 * Narrow bands with the kernels of band_kernel.h, wider ones with LAPACK; the factors
 * look the same. As in dense.c the usual path forms A = K + cC and eliminates; what looks
 * suspicious is equilibrated by powers of two, A' = R A S, factored again, and only then
 * judged.
 */
#include "linear/band_kernel.h"
#include "linear/lapack.h"

#include <limits.h>

/* Up to this lower + upper our own kernels are faster than OpenBLAS's dgbtrf and dgbtrs, which call routines for
 * vectors of a few entries: n = 400, 16 + 16, factoring 32 us against 40, solving 5.3 against 9.0; 24 + 24,
 * complex, 136 against 141 and 14.6 against 16.6 (plain x86-64; with wider vectors the limit would be higher). */
enum { OWN_LIMIT = 48 };

typedef struct band_analysis {
    dae_memory memory;
    dae_matrix pattern;
    band_shape shape;
} band_analysis;

/* Entry k of the factors is re[k * step] + i im[k * step]: two arrays for our own
 * kernels, pairs for LAPACK. */
typedef struct band_factor {
    const band_analysis *analysis;
    band_shape shape;
    int is_complex, own, scaled;
    int plain; /* real, tridiagonal, no row was exchanged */
    double *re, *im;
    ptrdiff_t step;
    double *inverse_re, *inverse_im; /* 1 / u_kk, own kernels */
    double *least;                   /* suspicious size of a pivot, per column */
    double *work;                    /* LAPACK, complex: one right side as pairs */
    int *pivot;                      /* counted from 0 (own) or 1 (LAPACK) */
    int *row_shift, *column_shift;   /* exponents of R and S */
} band_factor;

/* ---- objects ---- */

static int analyze(const dae_matrix *pattern, const dae_memory *memory, void **analysis)
{
    *analysis = NULL;
    int64_t ld = 2 * (int64_t)pattern->lower + pattern->upper + 1;
    if (ld > INT_MAX) return DAE_E_LIMIT;
    band_analysis *a = dae_alloc(memory, 1, sizeof *a);
    if (!a) return DAE_E_NOMEM;
    a->memory = *memory;
    a->pattern = *pattern;
    a->shape = (band_shape){ .n = pattern->n,
                             .lower = pattern->lower,
                             .upper = pattern->upper,
                             .d = pattern->lower + pattern->upper,
                             .ld = (int)ld };
    *analysis = a;
    return DAE_OK;
}

static void release(void *analysis)
{
    band_analysis *a = analysis;
    if (!a) return;
    dae_memory memory = a->memory;
    dae_free(&memory, a);
}

static void close(void *factor)
{
    band_factor *f = factor;
    if (!f) return;
    const dae_memory *m = &f->analysis->memory;
    dae_free(m, f->re);
    dae_free(m, f->inverse_re);
    dae_free(m, f->pivot);
    dae_free(m, f);
}

static int open(void *analysis, int is_complex, void **factor)
{
    const band_analysis *a = analysis;
    size_t n = (size_t)a->shape.n, ld = (size_t)a->shape.ld;
    *factor = NULL;
    band_factor *f = dae_alloc(&a->memory, 1, sizeof *f);
    if (!f) return DAE_E_NOMEM;
    f->analysis = a;
    f->shape = a->shape;
    f->is_complex = is_complex;
    f->own = a->shape.d <= OWN_LIMIT;
    f->re = dae_alloc(&a->memory, n, ld * (is_complex ? 2 : 1) * sizeof *f->re);
    f->inverse_re = dae_alloc(&a->memory, n, 5 * sizeof *f->inverse_re);
    f->pivot = dae_alloc(&a->memory, n, 3 * sizeof *f->pivot);
    if (!f->re || !f->inverse_re || !f->pivot) {
        close(f);
        return DAE_E_NOMEM;
    }
    f->step = is_complex && !f->own ? 2 : 1;
    f->im = f->re + (!is_complex ? 0 : f->own ? n * ld : 1);
    f->inverse_im = f->inverse_re + n;
    f->least = f->inverse_im + n;
    f->work = f->least + n;
    f->row_shift = f->pivot + n;
    f->column_shift = f->row_shift + n;
    *factor = f;
    return DAE_OK;
}

/* ---- the usual path ---- */

static int is_tridiagonal(const band_shape *s)
{
    return s->lower == 1 && s->upper == 1;
}

/* Forms A and factors it, unless its entries are not finite or dangerously large. Returns
 * how many pivots were good, -1 if it was not tried. */
DAE_BAND_INLINE int factor_real(const band_shape *s, band_factor *f, const double *K,
                                const double *C, double c)
{
    if (!(form_band(s, K, C, c, f->re, f->least) < DAE_SUM_LARGEST)) return -1;
    return eliminate_band(s, f->re, f->pivot, f->inverse_re, f->least);
}

/* Tridiagonal without exchanges, the usual case: l_{k+1,k} and u_{k,k+1} / u_kk side by side
 * in `work`, so that a solve is two short recurrences (see solve_plain). */
static int lay_out_plain(const band_shape *s, const band_factor *f)
{
    double *l = f->work, *u = f->work + s->n;
    for (int k = 0; k < s->n - 1; k++) {
        if (f->pivot[k] != k) return 0;
        l[k] = f->re[diagonal(s, k) + 1];
        u[k] = f->re[diagonal(s, k + 1) - 1] * f->inverse_re[k];
    }
    return 1;
}

static int factor_own_real(band_factor *f, const double *K, const double *C, double c)
{
    band_shape tridiagonal = { .n = f->shape.n, .lower = 1, .upper = 1, .d = 2, .ld = 4 };
    if (!is_tridiagonal(&f->shape)) return factor_real(&f->shape, f, K, C, c);
    int reached = factor_real(&tridiagonal, f, K, C, c);
    f->plain = reached == f->shape.n && lay_out_plain(&tridiagonal, f);
    return reached;
}

/* As form_band for pairs and for complex matrices. */
static double form(band_factor *f, const double *K, const double *C, double c_re, double c_im)
{
    const band_shape *s = &f->shape;
    double total = (c_re - c_re) + (c_im - c_im);
    for (int j = 0; j < s->n; j++) {
        ptrdiff_t out = diagonal(s, j), in = s->upper + (ptrdiff_t)j * (s->d + 1);
        int up = at_most(s->upper, j), down = at_most(s->lower, s->n - 1 - j);
        double sum = 0;
        for (int i = -s->d; i <= down; i++) {
            double x = 0, y = 0;
            if (i >= -up) {
                x = K[in + i] + c_re * C[in + i];
                y = f->is_complex ? c_im * C[in + i] : 0;
            }
            f->im[(out + i) * f->step] = y; /* a real factor has im == re: overwritten */
            f->re[(out + i) * f->step] = x;
            sum += fabs(x) + fabs(y);
        }
        f->least[j] = DAE_PIVOT_SMALLEST + DAE_PIVOT_SUSPICIOUS * sum;
        total += sum;
    }
    return total;
}

static double size_of(const band_factor *f, int i, int j)
{
    ptrdiff_t k = (diagonal(&f->shape, j) + (i - j)) * f->step;
    return f->is_complex ? fabs(f->re[k]) + fabs(f->im[k]) : fabs(f->re[k]);
}

/* Factors what is in f. Returns the number of good pivots. */
static int eliminate(band_factor *f)
{
    const band_shape *s = &f->shape;
    int info = 0;
    if (f->own && f->is_complex)
        return eliminate_band_complex(s, f->re, f->im, f->pivot, f->inverse_re, f->inverse_im,
                                      f->least);
    if (f->own) return eliminate_band(s, f->re, f->pivot, f->inverse_re, f->least);
    if (f->is_complex)
        zgbtrf_(&s->n, &s->n, &s->lower, &s->upper, f->re, &s->ld, f->pivot, &info);
    else
        dgbtrf_(&s->n, &s->n, &s->lower, &s->upper, f->re, &s->ld, f->pivot, &info);
    for (int k = 0; k < s->n; k++)
        if (!(size_of(f, k, k) > f->least[k])) return k;
    return s->n;
}

/* ---- the careful path ---- */

/* A' = R A S, every column of size one. Its pivots need only be nonzero. */
static void form_scaled(band_factor *f, const dae_sum *a)
{
    const dae_matrix *p = a->pattern;
    size_t all = (size_t)p->n * (size_t)f->shape.ld * (f->is_complex ? 2 : 1);
    for (size_t k = 0; k < all; k++) f->re[k] = 0;
    for (int j = 0; j < p->n; j++) {
        for (int64_t k = dae_column_begin(p, j); k < dae_column_end(p, j); k++) {
            int i = dae_column_row(p, j, k), shift = f->row_shift[i] + f->column_shift[j];
            ptrdiff_t out = (diagonal(&f->shape, j) + (i - j)) * f->step;
            if (f->is_complex) f->im[out] = ldexp(dae_sum_im(a, k), shift);
            f->re[out] = ldexp(dae_sum_re(a, k), shift);
        }
        f->least[j] = DAE_PIVOT_SMALLEST;
    }
}

static int pivot_row(const band_factor *f, int k)
{
    return f->pivot[k] - (f->own ? 0 : 1);
}

/* The row of A that stands in row i just before stage k, and in `terms` the sum of |l_im|
 * |u_mk| over the earlier stages m: multipliers were not interchanged, so the row is
 * followed back through the interchanges. */
static int follow_back(const band_factor *f, int i, int k, double *terms)
{
    int first = k - f->shape.d > 0 ? k - f->shape.d : 0;
    for (int m = k - 1; m >= 0; m--) {
        if (m >= first && i - m <= f->shape.lower) *terms += size_of(f, i, m) * size_of(f, m, k);
        if (i == pivot_row(f, m))
            i = m;
        else if (i - m >= f->shape.lower)
            break; /* no earlier stage reached this row */
    }
    return i;
}

/* As in dense.c: stage k met only noise if none of the values l_ik u_kk it could choose
 * from exceeds the rounding of the terms it was summed from. */
static int is_noise(const band_factor *f, const dae_sum *a, int k)
{
    double pivot = size_of(f, k, k), part = dae_pivot_noise(f->shape.n);
    int end = k + at_most(f->shape.lower, f->shape.n - 1 - k);
    for (int i = k; i <= end; i++) {
        double terms = 0, value = i == k ? pivot : size_of(f, i, k) * pivot;
        int before = i == k ? pivot_row(f, k) : i == pivot_row(f, k) ? k : i;
        int row = follow_back(f, before, k, &terms);
        int64_t place = dae_matrix_find(a->pattern, row, k);
        if (place >= 0)
            terms += ldexp(fabs(dae_sum_re(a, place)) + fabs(dae_sum_im(a, place)),
                           f->row_shift[row] + f->column_shift[k]);
        if (value > part * terms) return 0;
    }
    return 1;
}

static int factor_carefully(band_factor *f, const dae_sum *a, dae_factor_info *info)
{
    int n = f->shape.n, status = dae_sum_check(a, info);
    if (status) return status;
    status = dae_sum_equilibrate(a, f->row_shift, f->column_shift, info);
    if (status) return status;
    form_scaled(f, a);
    f->scaled = 1;
    int reached = eliminate(f);
    for (int k = 0; k < reached; k++)
        if (size_of(f, k, k) < DAE_PIVOT_SUSPICIOUS && is_noise(f, a, k)) reached = k;
    if (reached == n) return DAE_OK;
    double unused = 0;
    info->row = follow_back(f, pivot_row(f, reached), reached, &unused);
    info->column = reached;
    return DAE_E_SINGULAR;
}

/* Smallest over largest |u_kk|: cheap, and as crude as klu_rcond. */
static double estimate_rcond(const band_factor *f)
{
    double smallest = INFINITY, largest = 0;
    for (int k = 0; k < f->shape.n; k++) {
        double u = size_of(f, k, k);
        smallest = u < smallest ? u : smallest;
        largest = u > largest ? u : largest;
    }
    return largest > 0 ? smallest / largest : 1;
}

static int factor(void *factor_, const double *K, const double *C, double c_re, double c_im,
                  dae_factor_info *info)
{
    band_factor *f = factor_;
    int reached = -1;
    f->scaled = 0;
    *info = (dae_factor_info){ .row = -1, .column = -1, .rcond = -1 };
    f->plain = 0;
    if (!f->is_complex) c_im = 0;
    if (f->own && !f->is_complex)
        reached = factor_own_real(f, K, C, c_re);
    else if (form(f, K, C, c_re, c_im) < DAE_SUM_LARGEST)
        reached = eliminate(f);
    if (reached < f->shape.n) {
        dae_sum a = { &f->analysis->pattern, K, C, c_re, c_im };
        int status = factor_carefully(f, &a, info);
        if (status == DAE_E_SINGULAR) info->rcond = 0;
        if (status) return status;
    }
    info->rcond = estimate_rcond(f);
    return DAE_OK;
}

/* ---- solving ---- */

static void solve_own(const band_factor *f, double *re, double *im, int transposed)
{
    const band_shape *s = &f->shape;
    band_shape tridiagonal = { .n = s->n, .lower = 1, .upper = 1, .d = 2, .ld = 4 };
    if (!f->is_complex && !transposed && is_tridiagonal(s))
        solve_band(&tridiagonal, f->re, f->pivot, f->inverse_re, re);
    else if (!f->is_complex && !transposed)
        solve_band(s, f->re, f->pivot, f->inverse_re, re);
    else if (!f->is_complex)
        solve_band_transposed(s, f->re, f->pivot, f->inverse_re, re);
    else if (!transposed)
        solve_band_complex(s, f->re, f->im, f->pivot, f->inverse_re, f->inverse_im, re, im);
    else
        solve_band_complex_transposed(s, f->re, f->im, f->pivot, f->inverse_re, f->inverse_im, re,
                                      im);
}

static void solve_lapack(const band_factor *f, double *re, double *im, int transposed)
{
    const band_shape *s = &f->shape;
    int one = 1, info = 0;
    const char *op = transposed ? "T" : "N";
    if (!f->is_complex) {
        dgbtrs_(op, &s->n, &s->lower, &s->upper, &one, f->re, &s->ld, f->pivot, re, &s->n, &info,
                1);
        return;
    }
    for (int i = 0; i < s->n; i++) {
        f->work[2 * (ptrdiff_t)i] = re[i];
        f->work[2 * (ptrdiff_t)i + 1] = im[i];
    }
    zgbtrs_(op, &s->n, &s->lower, &s->upper, &one, f->re, &s->ld, f->pivot, f->work, &s->n, &info,
            1);
    for (int i = 0; i < s->n; i++) {
        re[i] = f->work[2 * (ptrdiff_t)i];
        im[i] = f->work[2 * (ptrdiff_t)i + 1];
    }
}

/* (L U) x = b for `count` right sides at once: what limits a single one is the latency of
 * b_k - l t, and several recurrences hide each other's. */
DAE_BAND_INLINE void solve_plain(const band_factor *f, double *b, const int count)
{
    const double *l = f->work, *u = f->work + f->shape.n, *inverse = f->inverse_re;
    ptrdiff_t n = f->shape.n;
    double t[3] = { 0, 0, 0 };
    for (int q = 0; q < count; q++) {
        t[q] = b[q * n];
        b[q * n] = t[q] * inverse[0];
    }
    for (ptrdiff_t k = 1; k < n; k++)
        for (int q = 0; q < count; q++) {
            t[q] = b[q * n + k] - l[k - 1] * t[q];
            b[q * n + k] = t[q] * inverse[k];
        }
    for (int q = 0; q < count; q++) t[q] = b[q * n + n - 1];
    for (ptrdiff_t k = n - 2; k >= 0; k--)
        for (int q = 0; q < count; q++) {
            t[q] = b[q * n + k] - u[k] * t[q];
            b[q * n + k] = t[q];
        }
}

static void solve_all_plain(const band_factor *f, double *b, int count)
{
    for (; count >= 3; count -= 3, b += 3 * (ptrdiff_t)f->shape.n) solve_plain(f, b, 3);
    if (count == 2) solve_plain(f, b, 2);
    if (count == 1) solve_plain(f, b, 1);
}

static int solve(void *factor_, double *re, double *im, int count, int transposed)
{
    const band_factor *f = factor_;
    int n = f->shape.n;
    if (f->plain && !transposed) {
        solve_all_plain(f, re, count);
        return DAE_OK;
    }
    const int *before = transposed ? f->column_shift : f->row_shift;
    const int *after = transposed ? f->row_shift : f->column_shift;
    for (int q = 0; q < count; q++) {
        double *x = re + (ptrdiff_t)q * n, *y = f->is_complex ? im + (ptrdiff_t)q * n : NULL;
        if (f->scaled) {
            dae_shift(x, before, n, 1);
            dae_shift(y, before, n, 1);
        }
        if (f->own)
            solve_own(f, x, y, transposed);
        else
            solve_lapack(f, x, y, transposed);
        if (f->scaled) {
            dae_shift(x, after, n, 1);
            dae_shift(y, after, n, 1);
        }
    }
    return DAE_OK;
}

const dae_linear dae_linear_band = {
    .name = "band",
    .description = "LU with partial pivoting in the band: own kernels, wide bands by LAPACK",
    .can = DAE_LINEAR_COMPLEX | DAE_LINEAR_TRANSPOSED,
    .kind = DAE_PATTERN_BAND,
    .analyze = analyze,
    .open = open,
    .factor = factor,
    .solve = solve,
    .close = close,
    .release = release,
};
