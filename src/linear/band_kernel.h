/* band_kernel.h: LU with partial pivoting for narrow bands, real and complex.
 *
 * Layout and factors are LAPACK's (dgbtrf): column j holds entry (i, j) at
 *     d + i - j + j * ld,   d = lower + upper,   ld = 2 lower + upper + 1,
 * the first `lower` places of a column being room for what pivoting fills in. Multipliers
 * stay where they were computed (they are not interchanged later), so a solution applies
 * interchange k and column k of L alternately. Rows are counted from 0 here; inverse[k] =
 * 1 / u_kk. Complex matrices are two real ones.
 *
 * Interchange and update of a column happen in one visit. band.c calls the real kernels
 * with a constant shape for tridiagonal matrices: 140 instructions per unknown to form
 * and factor, 44 to solve, against 268 and 69 with a variable shape and 625 and 316 of
 * LAPACK's (gcc 12 -O3).
 */
#ifndef DAE_LINEAR_BAND_KERNEL_H
#define DAE_LINEAR_BAND_KERNEL_H

#include "linear/form.h"

#include <stddef.h>

#define DAE_BAND_INLINE static inline __attribute__((always_inline))

typedef struct band_shape {
    int n, lower, upper, d, ld;
} band_shape;

DAE_BAND_INLINE int at_most(int a, int b)
{
    return a < b ? a : b;
}

/* Where entry (k, k) is. */
DAE_BAND_INLINE ptrdiff_t diagonal(const band_shape *s, int k)
{
    return s->d + (ptrdiff_t)k * s->ld;
}

DAE_BAND_INLINE void exchange(double *x, ptrdiff_t p, ptrdiff_t q)
{
    double t = x[p];
    x[p] = x[q];
    x[q] = t;
}

/* ---- real ---- */

/* A := K + cC; the places for fill and those outside the matrix become zero. least_j is
 * what a pivot of column j must exceed not to be suspicious. Returns the sum of all
 * |a_ij|, not finite if an entry or c is not. */
DAE_BAND_INLINE double form_band(const band_shape *s, const double *restrict K,
                                 const double *restrict C, double c, double *restrict a,
                                 double *restrict least)
{
    double total = c - c;
    for (int j = 0; j < s->n; j++) {
        double *out = a + diagonal(s, j), sum = 0; /* out_i and in_i: entry (j + i, j) */
        ptrdiff_t in = s->upper + (ptrdiff_t)j * (s->d + 1);
        int up = at_most(s->upper, j), down = at_most(s->lower, s->n - 1 - j);
        for (int i = -s->d; i < -up; i++) out[i] = 0;
        for (int i = -up; i <= down; i++) {
            double value = K[in + i] + c * C[in + i];
            out[i] = value;
            sum += fabs(value);
        }
        least[j] = DAE_PIVOT_SMALLEST + DAE_PIVOT_SUSPICIOUS * sum;
        total += sum;
    }
    return total;
}

/* Returns how many pivots exceeded least_k: n, or the first that did not. */
DAE_BAND_INLINE int eliminate_band(const band_shape *s, double *a, int *pivot, double *inverse,
                                   const double *least)
{
    int last = 0; /* the last column that a pivot row so far reaches */
    for (int k = 0; k < s->n; k++) {
        double *restrict x = a + diagonal(s, k), largest = fabs(x[0]); /* x_i: (k + i, k) */
        int rows = at_most(s->lower, s->n - 1 - k), p = 0;
        for (int i = 1; i <= rows; i++) {
            if (fabs(x[i]) > largest) {
                largest = fabs(x[i]);
                p = i;
            }
        }
        pivot[k] = k + p;
        if (!(largest > least[k])) return k;
        if (k + p + s->upper > last) last = at_most(k + p + s->upper, s->n - 1);
        exchange(x, 0, p);
        double r = 1 / x[0];
        inverse[k] = r;
        for (int i = 1; i <= rows; i++) x[i] *= r;
        for (int j = k + 1; j <= last; j++) {
            double *restrict y = a + diagonal(s, j) + (k - j); /* y_i: entry (k + i, j) */
            double u = y[p];
            y[p] = y[0];
            y[0] = u;
            for (int i = 1; i <= rows; i++) y[i] -= x[i] * u;
        }
    }
    return s->n;
}

DAE_BAND_INLINE void solve_band(const band_shape *s, const double *restrict a, const int *pivot,
                                const double *inverse, double *restrict b)
{
    for (int k = 0; k < s->n - 1; k++) {
        const double *x = a + diagonal(s, k);
        int rows = at_most(s->lower, s->n - 1 - k), p = pivot[k];
        double t = b[p];
        b[p] = b[k];
        b[k] = t;
        for (int i = 1; i <= rows; i++) b[k + i] -= x[i] * t;
    }
    for (int k = s->n - 1; k >= 0; k--) {
        const double *x = a + diagonal(s, k);
        int rows = at_most(s->d, k);
        double t = b[k] * inverse[k];
        b[k] = t;
        for (int i = 1; i <= rows; i++) b[k - i] -= x[-i] * t;
    }
}

static inline void solve_band_transposed(const band_shape *s, const double *restrict a,
                                         const int *pivot, const double *inverse,
                                         double *restrict b)
{
    for (int k = 0; k < s->n; k++) {
        const double *x = a + diagonal(s, k);
        int rows = at_most(s->d, k);
        double t = b[k];
        for (int i = rows; i >= 1; i--) t -= x[-i] * b[k - i];
        b[k] = t * inverse[k];
    }
    for (int k = s->n - 2; k >= 0; k--) {
        const double *x = a + diagonal(s, k);
        int rows = at_most(s->lower, s->n - 1 - k), p = pivot[k];
        double t = b[k];
        for (int i = 1; i <= rows; i++) t -= x[i] * b[k + i];
        b[k] = b[p];
        b[p] = t;
    }
}

/* ---- complex: A = a + i b, right side x + i y ---- */

/* (y, w) -= (x, z) * (s, t) for `rows` entries from the second on, `step` = 1 or -1 */
static inline void subtract_band(int rows, int step, const double *restrict x,
                                 const double *restrict z, double s, double t, double *restrict y,
                                 double *restrict w)
{
    for (int i = step; i != step * (rows + 1); i += step) {
        y[i] -= x[i] * s - z[i] * t;
        w[i] -= x[i] * t + z[i] * s;
    }
}

static inline int eliminate_band_complex(const band_shape *s, double *a, double *b, int *pivot,
                                         double *inv_re, double *inv_im, const double *least)
{
    int last = 0;
    for (int k = 0; k < s->n; k++) {
        double *x = a + diagonal(s, k), *z = b + diagonal(s, k);
        double largest = fabs(x[0]) + fabs(z[0]);
        int rows = at_most(s->lower, s->n - 1 - k), p = 0;
        for (int i = 1; i <= rows; i++) {
            if (fabs(x[i]) + fabs(z[i]) > largest) {
                largest = fabs(x[i]) + fabs(z[i]);
                p = i;
            }
        }
        pivot[k] = k + p;
        if (!(largest > least[k])) return k;
        if (k + p + s->upper > last) last = at_most(k + p + s->upper, s->n - 1);
        exchange(x, 0, p);
        exchange(z, 0, p);
        double re, im;
        dae_invert(x[0], z[0], &re, &im);
        inv_re[k] = re;
        inv_im[k] = im;
        for (int i = 1; i <= rows; i++) {
            double t = x[i];
            x[i] = t * re - z[i] * im;
            z[i] = t * im + z[i] * re;
        }
        for (int j = k + 1; j <= last; j++) {
            double *y = a + diagonal(s, j) + (k - j), *w = b + diagonal(s, j) + (k - j);
            exchange(y, 0, p);
            exchange(w, 0, p);
            subtract_band(rows, 1, x, z, y[0], w[0], y, w);
        }
    }
    return s->n;
}

static inline void solve_band_complex(const band_shape *s, const double *a, const double *b,
                                      const int *pivot, const double *inv_re, const double *inv_im,
                                      double *x, double *y)
{
    for (int k = 0; k < s->n - 1; k++) {
        ptrdiff_t at = diagonal(s, k);
        int rows = at_most(s->lower, s->n - 1 - k);
        exchange(x, k, pivot[k]);
        exchange(y, k, pivot[k]);
        subtract_band(rows, 1, a + at, b + at, x[k], y[k], x + k, y + k);
    }
    for (int k = s->n - 1; k >= 0; k--) {
        ptrdiff_t at = diagonal(s, k);
        double re = x[k] * inv_re[k] - y[k] * inv_im[k];
        double im = x[k] * inv_im[k] + y[k] * inv_re[k];
        x[k] = re;
        y[k] = im;
        subtract_band(at_most(s->d, k), -1, a + at, b + at, re, im, x + k, y + k);
    }
}

/* (re, im) -= sum over i = step .. step * rows of (a, b)_i (x, y)_i */
static inline void subtract_product(int rows, int step, const double *a, const double *b,
                                    const double *x, const double *y, double *re, double *im)
{
    double s = *re, t = *im;
    for (int i = step; i != step * (rows + 1); i += step) {
        s -= a[i] * x[i] - b[i] * y[i];
        t -= a[i] * y[i] + b[i] * x[i];
    }
    *re = s;
    *im = t;
}

static inline void solve_band_complex_transposed(const band_shape *s, const double *a,
                                                 const double *b, const int *pivot,
                                                 const double *inv_re, const double *inv_im,
                                                 double *x, double *y)
{
    for (int k = 0; k < s->n; k++) {
        ptrdiff_t at = diagonal(s, k);
        double re = x[k], im = y[k];
        subtract_product(at_most(s->d, k), -1, a + at, b + at, x + k, y + k, &re, &im);
        x[k] = re * inv_re[k] - im * inv_im[k];
        y[k] = re * inv_im[k] + im * inv_re[k];
    }
    for (int k = s->n - 2; k >= 0; k--) {
        ptrdiff_t at = diagonal(s, k);
        int rows = at_most(s->lower, s->n - 1 - k);
        subtract_product(rows, 1, a + at, b + at, x + k, y + k, x + k, y + k);
        exchange(x, k, pivot[k]);
        exchange(y, k, pivot[k]);
    }
}

#endif
