/* dense_kernel.h: LU with partial pivoting for small dense matrices, real and complex.
 *
 *     a_(order[i], j) = (L U)_ij,   L unit lower triangular, U upper triangular,
 *
 * both in place of A, column by column; inverse[k] = 1 / u_kk, so that solving divides by
 * nothing. Right sides are gathered in the order of the rows into a short local array,
 * solved there and written back: no interchanges, and the compiler sees that nothing
 * overlaps.
 *
 * Inner loops run down columns, two at a time: fewer loads, and vectorised without
 * reordering long sums. A complex matrix is two real ones. A left-looking elimination was
 * slower (n = 8: 400 ns against 210).
 *
 * Up to DAE_BLOCKS_MOST unknowns loop control and ragged ends would cost more than the
 * arithmetic: dense_blocks.h is for those. These kernels then serve only what had to be
 * equilibrated. Instructions through dae_linear_dense at n = 2, 3, 6, 8, 10 (gcc 12 -O3
 * -ffp-contract=fast, random matrices, where most columns exchange rows):
 *
 *     AVX2  real     factor 167 235  660 1027 1679   solve 25  33  56  71  97
 *           complex         221 329 1122 1725 3188         43  65 135 184 281
 *     SSE2  real            169 269  829 1506 2425         30  48 108 166 235
 *           complex         250 479 1768 3299 5758         63 123 324 561 864
 */
#ifndef DAE_LINEAR_DENSE_KERNEL_H
#define DAE_LINEAR_DENSE_KERNEL_H

#include "linear/form.h"

#include <stddef.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define DAE_CHECKED
#endif
#elif defined __SANITIZE_ADDRESS__
#define DAE_CHECKED
#endif

#ifdef DAE_CHECKED /* every access has a test: unrolled, that takes minutes to compile */
#define DAE_INLINE static inline
#define DAE_UNROLL
#elif defined __clang__
#define DAE_INLINE static inline __attribute__((always_inline))
#define DAE_UNROLL _Pragma("unroll")
#else
#define DAE_INLINE static inline __attribute__((always_inline))
#define DAE_UNROLL _Pragma("GCC unroll 10")
#endif

enum {
    DAE_DENSE_OWN = 50,  /* docs/numerics.md: plain loops beat OpenBLAS up to here */
    DAE_BLOCKS_MOST = 10 /* dense_blocks.h: complex, with a constant size */
};

/* A matrix and its factors. */
typedef struct dae_dense_lu {
    int n;
    int *order;                   /* row of A that became row i of the factors */
    double *a, *b;                /* L and U: real and imaginary parts */
    double *inverse, *inverse_im; /* 1 / u_kk */
    double *packed;               /* the factors of dense_blocks.h */
    double *least;                /* what pivot k must exceed not to be suspicious */
    double smallest, largest;     /* |u_kk| */
} dae_dense_lu;

/* The kernels of one size. `factor` forms K + cC and factors it, unless its entries are
 * not finite or dangerously large; it returns how many pivots were good, -1 if it did not
 * try. The right side is x, or x + iy; solving returns DAE_OK: it is all that is left to
 * do for the caller's caller. */
typedef struct dae_dense_kernels {
    int (*factor)(dae_dense_lu *f, const double *K, const double *C, double c_re, double c_im);
    int (*solve)(const dae_dense_lu *f, double *x, double *y);
    int (*solve_transposed)(const dae_dense_lu *f, double *x, double *y);
} dae_dense_kernels;

/* Those for factors in a and b, for any n, and those that are best for n. See
 * dense_sizes.c. */
const dae_dense_kernels *dae_dense_plain(int is_complex);
const dae_dense_kernels *dae_dense_best(int n, int is_complex);
size_t dae_dense_packed(int n, int is_complex); /* what f->packed must hold */

/* ---- real ---- */

/* Columns k and k + 1 of y := L^-1 y. */
DAE_INLINE void forward_pair(int n, int k, const double *restrict a, double *restrict y)
{
    const double *restrict x = a + k * n, *restrict w = x + n;
    double s = y[k], t = y[k + 1] - x[k + 1] * s;
    y[k + 1] = t;
    for (int i = k + 2; i < n; i++) y[i] -= x[i] * s + w[i] * t;
}

/* Columns k and k - 1 of y := U^-1 y. */
DAE_INLINE void backward_pair(int n, int k, const double *restrict a,
                              const double *restrict inverse, double *restrict y)
{
    const double *restrict x = a + k * n, *restrict w = x - n;
    double s = y[k] * inverse[k], t = (y[k - 1] - x[k - 1] * s) * inverse[k - 1];
    y[k] = s;
    y[k - 1] = t;
    for (int i = 0; i < k - 1; i++) y[i] -= x[i] * s + w[i] * t;
}

/* y := U^-1 L^-1 y */
DAE_INLINE void substitute_real(int n, const double *restrict a, const double *restrict inverse,
                                double *restrict y)
{
    for (int k = 0; k + 1 < n; k += 2) forward_pair(n, k, a, y);
    for (int k = n - 1; k > 0; k -= 2) backward_pair(n, k, a, inverse, y);
    if (n % 2) y[0] *= inverse[0];
}

DAE_INLINE void swap_rows(int n, double *a, int p, int q)
{
    for (int j = 0; j < n; j++) {
        double t = a[p + j * n];
        a[p + j * n] = a[q + j * n];
        a[q + j * n] = t;
    }
}

/* A := K + cC, and least_j: what a pivot of column j must exceed not to be suspicious.
 * Returns the sum of all |a_ij|, which is not finite if an entry or c is not. */
DAE_INLINE double form_real(int n, const double *restrict K, const double *restrict C, double c,
                            double *restrict a, double *restrict least)
{
    double total = c - c; /* 0, or NaN */
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            double value = K[i + j * n] + c * C[i + j * n];
            a[i + j * n] = value;
            sum += fabs(value);
        }
        least[j] = DAE_PIVOT_SMALLEST + DAE_PIVOT_SUSPICIOUS * sum;
        total += sum;
    }
    return total;
}

/* a_ij -= l_ik u_kj for all i, j > k */
DAE_INLINE void subtract_real(int n, int k, double *a)
{
    const double *restrict x = a + k * n;
    int j = k + 1;
    for (; j + 1 < n; j += 2) {
        double *restrict y = a + j * n, *restrict w = y + n;
        double u = y[k], v = w[k];
        for (int i = k + 1; i < n; i++) {
            double l = x[i];
            y[i] -= l * u;
            w[i] -= l * v;
        }
    }
    if (j < n) {
        double *restrict y = a + j * n;
        double u = y[k];
        for (int i = k + 1; i < n; i++) y[i] -= x[i] * u;
    }
}

/* Step k of the elimination; 0: the pivot did not exceed least_k. */
DAE_INLINE int eliminate_column(int n, int k, dae_dense_lu *f)
{
    double *a = f->a, *x = a + k * n, largest = fabs(x[k]);
    int p = k, *order = f->order;
    for (int i = k + 1; i < n; i++) {
        double size = fabs(x[i]);
        if (size > largest) {
            largest = size;
            p = i;
        }
    }
    if (!(largest > f->least[k])) return 0;
    f->smallest = largest < f->smallest ? largest : f->smallest;
    f->largest = largest > f->largest ? largest : f->largest;
    if (p != k) {
        int row = order[k];
        order[k] = order[p];
        order[p] = row;
        swap_rows(n, a, k, p);
    }
    double r = 1 / x[k];
    f->inverse[k] = r;
    for (int i = k + 1; i < n; i++) x[i] *= r; /* l_ik = a_ik / u_kk */
    subtract_real(n, k, a);
    return 1;
}

/* Returns how many pivots exceeded least_k: n, or the first that did not. order[] is
 * right even then. */
DAE_INLINE int eliminate_real(int n, dae_dense_lu *f)
{
    f->smallest = INFINITY;
    f->largest = 0;
    for (int i = 0; i < n; i++) f->order[i] = i;
    for (int k = 0; k < n; k++)
        if (!eliminate_column(n, k, f)) return k;
    return n;
}

/* b := A^-1 b */
DAE_INLINE void solve_real(int n, const dae_dense_lu *f, double *b)
{
    double y[DAE_DENSE_OWN];
    for (int i = 0; i < n; i++) y[i] = b[f->order[i]];
    substitute_real(n, f->a, f->inverse, y);
    for (int i = 0; i < n; i++) b[i] = y[i];
}

/* A' = U' L' P, P the gathering by order[] */
static inline void solve_real_transposed(const dae_dense_lu *f, double *restrict b)
{
    const double *restrict a = f->a, *inverse = f->inverse;
    const int n = f->n, *order = f->order;
    double y[DAE_DENSE_OWN];
    for (int k = 0; k < n; k++) {
        double s = b[k];
        for (int i = 0; i < k; i++) s -= a[i + k * n] * y[i];
        y[k] = s * inverse[k];
    }
    for (int k = n - 2; k >= 0; k--) {
        double s = y[k];
        for (int i = k + 1; i < n; i++) s -= a[i + k * n] * y[i];
        y[k] = s;
    }
    for (int i = 0; i < n; i++) b[order[i]] = y[i];
}

/* ---- complex: A = a + i b, right side x + i y ---- */

/* (y, w) -= (x, z) * (s, t) for rows begin .. end - 1 */
DAE_INLINE void subtract_column(int begin, int end, const double *restrict x,
                                const double *restrict z, double s, double t, double *restrict y,
                                double *restrict w)
{
    for (int i = begin; i < end; i++) {
        y[i] -= x[i] * s - z[i] * t;
        w[i] -= x[i] * t + z[i] * s;
    }
}

/* As form_real. */
static inline double form_complex(int n, const double *restrict K, const double *restrict C,
                                  double re, double im, dae_dense_lu *f)
{
    double total = (re - re) + (im - im);
    for (int j = 0; j < n; j++) {
        double *restrict x = f->a + j * n, *restrict z = f->b + j * n, sum = 0;
        for (int i = 0; i < n; i++) {
            x[i] = K[i + j * n] + re * C[i + j * n];
            z[i] = im * C[i + j * n];
            sum += fabs(x[i]) + fabs(z[i]);
        }
        f->least[j] = DAE_PIVOT_SMALLEST + DAE_PIVOT_SUSPICIOUS * sum;
        total += sum;
    }
    return total;
}

/* As eliminate_column; sizes are |re| + |im|. */
DAE_INLINE int eliminate_complex_column(int n, int k, dae_dense_lu *f)
{
    double *a = f->a, *b = f->b, *restrict x = a + k * n, *restrict z = b + k * n;
    double largest = fabs(x[k]) + fabs(z[k]), re, im;
    int p = k, *order = f->order;
    for (int i = k + 1; i < n; i++) {
        double size = fabs(x[i]) + fabs(z[i]);
        if (size > largest) {
            largest = size;
            p = i;
        }
    }
    if (!(largest > f->least[k])) return 0;
    f->smallest = largest < f->smallest ? largest : f->smallest;
    f->largest = largest > f->largest ? largest : f->largest;
    if (p != k) {
        int row = order[k];
        order[k] = order[p];
        order[p] = row;
        swap_rows(n, a, k, p);
        swap_rows(n, b, k, p);
    }
    dae_invert(x[k], z[k], &re, &im);
    f->inverse[k] = re;
    f->inverse_im[k] = im;
    for (int i = k + 1; i < n; i++) {
        double t = x[i];
        x[i] = t * re - z[i] * im;
        z[i] = t * im + z[i] * re;
    }
    for (int j = k + 1; j < n; j++) {
        double *y = a + j * n, *w = b + j * n;
        subtract_column(k + 1, n, x, z, y[k], w[k], y, w);
    }
    return 1;
}

/* As eliminate_real. */
static inline int eliminate_complex(int n, dae_dense_lu *f)
{
    f->smallest = INFINITY;
    f->largest = 0;
    for (int i = 0; i < n; i++) f->order[i] = i;
    for (int k = 0; k < n; k++)
        if (!eliminate_complex_column(n, k, f)) return k;
    return n;
}

static inline int solve_complex(const dae_dense_lu *f, double *x, double *y)
{
    const double *a = f->a, *b = f->b, *inv_re = f->inverse, *inv_im = f->inverse_im;
    const int n = f->n, *order = f->order;
    double p[DAE_DENSE_OWN], q[DAE_DENSE_OWN];
    for (int i = 0; i < n; i++) {
        p[i] = x[order[i]];
        q[i] = y[order[i]];
    }
    for (int k = 0; k < n - 1; k++)
        subtract_column(k + 1, n, a + k * n, b + k * n, p[k], q[k], p, q);
    for (int k = n - 1; k >= 0; k--) {
        double s = p[k] * inv_re[k] - q[k] * inv_im[k];
        double t = p[k] * inv_im[k] + q[k] * inv_re[k];
        x[k] = s;
        y[k] = t;
        subtract_column(0, k, a + k * n, b + k * n, s, t, p, q);
    }
    return DAE_OK;
}

static inline int solve_complex_transposed(const dae_dense_lu *f, double *x, double *y)
{
    const double *a = f->a, *b = f->b, *inv_re = f->inverse, *inv_im = f->inverse_im;
    const int n = f->n, *order = f->order;
    double p[DAE_DENSE_OWN], q[DAE_DENSE_OWN];
    for (int k = 0; k < n; k++) {
        double s = x[k], t = y[k];
        for (int i = 0; i < k; i++) {
            s -= a[i + k * n] * p[i] - b[i + k * n] * q[i];
            t -= a[i + k * n] * q[i] + b[i + k * n] * p[i];
        }
        p[k] = s * inv_re[k] - t * inv_im[k];
        q[k] = s * inv_im[k] + t * inv_re[k];
    }
    for (int k = n - 1; k >= 0; k--) {
        double s = p[k], t = q[k];
        for (int i = k + 1; i < n; i++) {
            s -= a[i + k * n] * p[i] - b[i + k * n] * q[i];
            t -= a[i + k * n] * q[i] + b[i + k * n] * p[i];
        }
        p[k] = s;
        q[k] = t;
    }
    for (int i = 0; i < n; i++) {
        x[order[i]] = p[i];
        y[order[i]] = q[i];
    }
    return DAE_OK;
}

#endif
