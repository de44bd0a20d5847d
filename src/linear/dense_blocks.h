/* dense_blocks.h: LU for the smallest dense matrices, n <= DAE_BLOCKS_MOST.
 *
 *     a_(order[i], j) = (L D U)_ij,   L and U with unit diagonals, D diagonal.
 *
 * Columns are cut into blocks of DAE_WIDE rows, one vector register each, and padded with
 * zeros. L and U lie apart, with zeros where the other one would be: no loop has a ragged
 * end, and a right side stays in registers from beginning to end. D is kept inverted and
 * apart, so that the chain of dependent operations in a solution has no products with
 * pivots. All this needs a constant n: dense_sizes.c.
 *
 * A column has one part if it is real; if it is complex, a second one for the imaginary
 * parts. f->packed holds the columns of L, those of U and 1 / D. `parts` is always a
 * constant.
 */
#ifndef DAE_LINEAR_DENSE_BLOCKS_H
#define DAE_LINEAR_DENSE_BLOCKS_H

#include "linear/dense_kernel.h"

#include <stdint.h>
#include <string.h>

/* Within these limits no square of a pivot, and no entry of U, can overflow or vanish;
 * other matrices are equilibrated and take the other kernels. */
#define DAE_BLOCKS_LARGEST  0x1p+400
#define DAE_BLOCKS_SMALLEST 0x1p-400

/* ---- blocks ---- */

#ifdef __AVX__

enum { DAE_WIDE = 4 };
typedef double dae_block __attribute__((vector_size(32)));
typedef int64_t dae_block_bits __attribute__((vector_size(32)));
static const dae_block_bits dae_lanes = { 0, 1, 2, 3 };

/* The first m of the entries, then zeros. */
DAE_INLINE dae_block pick(const double *x, int m, int a, int b, int c, int d)
{
    return m == 1   ? (dae_block){ x[a] }
           : m == 2 ? (dae_block){ x[a], x[b] }
           : m == 3 ? (dae_block){ x[a], x[b], x[c] }
                    : (dae_block){ x[a], x[b], x[c], x[d] };
}

DAE_INLINE dae_block gather(const double *x, const int *at, int m)
{
    return pick(x, m, at[0], m > 1 ? at[1] : 0, m > 2 ? at[2] : 0, m > 3 ? at[3] : 0);
}

DAE_INLINE dae_block load_first(const double *x, int m)
{
    return pick(x, m, 0, 1, 2, 3);
}

DAE_INLINE double sum_of(dae_block x)
{
    return (x[0] + x[2]) + (x[1] + x[3]);
}

#else

enum { DAE_WIDE = 2 };
typedef double dae_block __attribute__((vector_size(16)));
typedef int64_t dae_block_bits __attribute__((vector_size(16)));
static const dae_block_bits dae_lanes = { 0, 1 };

DAE_INLINE dae_block gather(const double *x, const int *at, int m)
{
    return m == 1 ? (dae_block){ x[at[0]] } : (dae_block){ x[at[0]], x[at[1]] };
}

DAE_INLINE dae_block load_first(const double *x, int m)
{
    return m == 1 ? (dae_block){ x[0] } : (dae_block){ x[0], x[1] };
}

DAE_INLINE double sum_of(dae_block x)
{
    return x[0] + x[1];
}

#endif

enum { DAE_BLOCKS = (DAE_BLOCKS_MOST + DAE_WIDE - 1) / DAE_WIDE };

DAE_INLINE int blocks_of(int n)
{
    return (n + DAE_WIDE - 1) / DAE_WIDE;
}

DAE_INLINE dae_block load(const double *x)
{
    dae_block y;
    memcpy(&y, x, sizeof y);
    return y;
}

DAE_INLINE void store(double *x, dae_block y)
{
    memcpy(x, &y, sizeof y);
}

/* How many rows of a vector of length n lie in block b. */
DAE_INLINE int left_of(int n, int b)
{
    return n - b * DAE_WIDE < DAE_WIDE ? n - b * DAE_WIDE : DAE_WIDE;
}

DAE_INLINE void store_first(double *x, dae_block y, int m)
{
    if (m == DAE_WIDE)
        store(x, y);
    else
        for (int i = 0; i < m; i++) x[i] = y[i];
}

DAE_INLINE dae_block all(double x)
{
    return x - (dae_block){ 0 };
}

DAE_INLINE dae_block absolute(dae_block x)
{
    return (dae_block)((dae_block_bits)x & INT64_MAX);
}

/* The block b of a column, without what is above row `from` or from row `to` on. */
DAE_INLINE dae_block below_row(dae_block x, int b, int from)
{
    return (dae_block)((dae_block_bits)x & (dae_lanes + b * DAE_WIDE >= from));
}

DAE_INLINE dae_block above_row(dae_block x, int b, int to)
{
    return (dae_block)((dae_block_bits)x & (dae_lanes + b * DAE_WIDE < to));
}

/* ---- arithmetic with one or two parts ---- */

/* y + iz := (y + iz) (s + it) */
DAE_INLINE void multiply(int parts, dae_block *y, dae_block *z, dae_block s, dae_block t)
{
    if (parts == 1) {
        *y *= s;
    } else {
        dae_block x = *y;
        *y = x * s - *z * t;
        *z = x * t + *z * s;
    }
}

/* p + iq -= (y + iz) (s + it) */
DAE_INLINE void subtract(int parts, dae_block *p, dae_block *q, dae_block y, dae_block z,
                         dae_block s, dae_block t)
{
    if (parts == 1) {
        *p -= y * s;
    } else {
        *p = *p - y * s + z * t;
        *q = *q - y * t - z * s;
    }
}

/* ---- the parts of f->packed ---- */

DAE_INLINE int rows_of(int n)
{
    return DAE_WIDE * blocks_of(n);
}

/* The imaginary parts; without them nothing: the real ones. */
DAE_INLINE double *second(int n, int parts, double *x)
{
    return x + (parts - 1) * rows_of(n);
}

DAE_INLINE double *column_l(int n, int parts, double *packed, int j)
{
    return packed + j * parts * rows_of(n);
}

DAE_INLINE double *column_u(int n, int parts, double *packed, int j)
{
    return column_l(n, parts, packed, n + j);
}

DAE_INLINE double *inverse_d(int n, int parts, double *packed)
{
    return column_l(n, parts, packed, 2 * n);
}

/* ---- factoring ---- */

/* As form_real. */
DAE_INLINE double form_blocks(int n, int parts, dae_dense_lu *f, const double *K, const double *C,
                              double re, double im)
{
    dae_block total = all((re - re) + (im - im)); /* 0, or NaN */
    for (int j = 0; j < n; j++) {
        double *x = column_u(n, parts, f->packed, j), *w = second(n, parts, x);
        dae_block sum = { 0 };
        DAE_UNROLL for (int b = 0; b < blocks_of(n); b++)
        {
            int at = b * DAE_WIDE, m = left_of(n, b);
            dae_block k = load_first(K + j * n + at, m), c = load_first(C + j * n + at, m);
            dae_block y = k + re * c, z = im * c;
            store(x + at, y);
            sum += absolute(y);
            if (parts == 2) {
                store(w + at, z);
                sum += absolute(z);
            }
        }
        f->least[j] = DAE_BLOCKS_SMALLEST + DAE_PIVOT_SUSPICIOUS * sum_of(sum);
        total += sum;
    }
    return sum_of(total);
}

/* The row of the largest |re| + |im| in rows k .. of column x. */
DAE_INLINE int largest_of(int n, int parts, int k, double *x, double *largest)
{
    double size[DAE_BLOCKS * DAE_WIDE], *w = second(n, parts, x);
    int p = k;
    DAE_UNROLL for (int b = k / DAE_WIDE; b < blocks_of(n); b++)
    {
        dae_block y = absolute(load(x + b * DAE_WIDE));
        if (parts == 2) y += absolute(load(w + b * DAE_WIDE));
        store(size + b * DAE_WIDE, y);
    }
    *largest = size[k];
    DAE_UNROLL for (int i = k + 1; i < n; i++) if (size[i] > *largest)
    {
        *largest = size[i];
        p = i;
    }
    return p;
}

DAE_INLINE void exchange(double *x, int p, int q)
{
    double t = x[p];
    x[p] = x[q];
    x[q] = t;
}

/* Rows k and p of L (columns before k) and of what is left of A. */
DAE_INLINE void exchange_rows(int n, int parts, int k, int p, dae_dense_lu *f)
{
    int row = f->order[k];
    f->order[k] = f->order[p];
    f->order[p] = row;
    for (int j = 0; j < n; j++) {
        double *x = column_l(n, parts, f->packed, j < k ? j : n + j);
        exchange(x, k, p);
        if (parts == 2) exchange(second(n, parts, x), k, p);
    }
}

/* 1 / D, row k; within the limits above nothing overflows. */
DAE_INLINE void invert_pivot(int n, int parts, int k, dae_dense_lu *f)
{
    const double *x = column_u(n, parts, f->packed, k) + k;
    double *inverse = inverse_d(n, parts, f->packed) + k;
    if (parts == 1) {
        inverse[0] = 1 / x[0];
    } else {
        double re = x[0], im = x[rows_of(n)], r = 1 / (re * re + im * im);
        inverse[0] = re * r;
        inverse[rows_of(n)] = -im * r;
    }
}

/* Column k of L from that of A, with zeros above, also into s + it; then
 * a_ij -= l_ik u_kj for all i, j > k. */
DAE_INLINE void subtract_below(int n, int parts, int k, dae_dense_lu *f)
{
    const int first = (k + 1) / DAE_WIDE;
    double *x = column_u(n, parts, f->packed, k), *w = second(n, parts, x);
    double *l = column_l(n, parts, f->packed, k), *m = second(n, parts, l);
    double *inverse = inverse_d(n, parts, f->packed) + k;
    dae_block re = all(inverse[0]), im = all(*second(n, parts, inverse));
    dae_block s[DAE_BLOCKS], t[DAE_BLOCKS];
    DAE_UNROLL for (int b = first; b < blocks_of(n); b++)
    {
        s[b] = load(x + b * DAE_WIDE);
        t[b] = load(w + b * DAE_WIDE);
        multiply(parts, &s[b], &t[b], re, im);
        if (b * DAE_WIDE <= k) {
            s[b] = below_row(s[b], b, k + 1);
            t[b] = below_row(t[b], b, k + 1);
        }
        if (parts == 2) store(m + b * DAE_WIDE, t[b]);
        store(l + b * DAE_WIDE, s[b]);
    }
    for (int j = k + 1; j < n; j++) {
        x = column_u(n, parts, f->packed, j);
        w = second(n, parts, x);
        dae_block u = all(x[k]), v = all(w[k]);
        DAE_UNROLL for (int b = first; b < blocks_of(n); b++)
        {
            dae_block y = load(x + b * DAE_WIDE), z = load(w + b * DAE_WIDE);
            subtract(parts, &y, &z, s[b], t[b], u, v);
            if (parts == 2) store(w + b * DAE_WIDE, z);
            store(x + b * DAE_WIDE, y);
        }
    }
}

/* As eliminate_column; 1 also for columns that are not there. */
DAE_INLINE int eliminate_blocks_column(int n, int parts, int k, dae_dense_lu *f)
{
    double largest;
    if (k >= n) return 1;
    int p = largest_of(n, parts, k, column_u(n, parts, f->packed, k), &largest);
    if (!(largest > f->least[k])) return 0;
    f->smallest = largest < f->smallest ? largest : f->smallest;
    f->largest = largest > f->largest ? largest : f->largest;
    if (p != k) exchange_rows(n, parts, k, p, f);
    invert_pivot(n, parts, k, f);
    if (k < n - 1) subtract_below(n, parts, k, f);
    return 1;
}

/* Written out, here and below: not every compiler unrolls a loop around loops. */
DAE_INLINE int eliminate_blocks(int n, int parts, dae_dense_lu *f)
{
    if (!eliminate_blocks_column(n, parts, 0, f)) return 0;
    if (!eliminate_blocks_column(n, parts, 1, f)) return 1;
    if (!eliminate_blocks_column(n, parts, 2, f)) return 2;
    if (!eliminate_blocks_column(n, parts, 3, f)) return 3;
    if (!eliminate_blocks_column(n, parts, 4, f)) return 4;
    if (!eliminate_blocks_column(n, parts, 5, f)) return 5;
    if (!eliminate_blocks_column(n, parts, 6, f)) return 6;
    if (!eliminate_blocks_column(n, parts, 7, f)) return 7;
    if (!eliminate_blocks_column(n, parts, 8, f)) return 8;
    if (!eliminate_blocks_column(n, parts, 9, f)) return 9;
    return n;
}

/* Block b of column j of U := D^-1 U, zero on and below the diagonal. */
DAE_INLINE void divide_block(int n, int parts, int b, int j, double *packed, dae_block re,
                             dae_block im)
{
    double *x = column_u(n, parts, packed, j) + b * DAE_WIDE, *w = second(n, parts, x);
    dae_block y = load(x), z = load(w);
    multiply(parts, &y, &z, re, im);
    int whole = j >= (b + 1) * DAE_WIDE;
    if (parts == 2) store(w, whole ? z : above_row(z, b, j));
    store(x, whole ? y : above_row(y, b, j));
}

DAE_INLINE void divide_by_pivots(int n, int parts, double *packed)
{
    double *inverse = inverse_d(n, parts, packed);
    DAE_UNROLL for (int b = 0; b < blocks_of(n); b++)
    {
        dae_block re = load(inverse + b * DAE_WIDE);
        dae_block im = load(second(n, parts, inverse) + b * DAE_WIDE);
        int j = b * DAE_WIDE + 1;
        if (j < n) divide_block(n, parts, b, j, packed, re, im);
        if (j + 1 < n && DAE_WIDE > 2) divide_block(n, parts, b, j + 1, packed, re, im);
        if (j + 2 < n && DAE_WIDE > 2) divide_block(n, parts, b, j + 2, packed, re, im);
        for (j = (b + 1) * DAE_WIDE; j < n; j++) divide_block(n, parts, b, j, packed, re, im);
    }
}

DAE_INLINE int factor_blocks(int n, int parts, dae_dense_lu *f, const double *K, const double *C,
                             double re, double im)
{
    /* No store into the factors can change the addresses in a copy. That spares a tenth
     * of the instructions, and costs as much where registers are short. */
    dae_dense_lu copy = *f, *g = n <= 4 ? &copy : f;
    if (!(form_blocks(n, parts, g, K, C, re, im) < DAE_BLOCKS_LARGEST)) return -1;
    g->smallest = INFINITY;
    g->largest = 0;
    for (int i = 0; i < n; i++) g->order[i] = i;
    int good = eliminate_blocks(n, parts, g);
    if (good == n) divide_by_pivots(n, parts, g->packed);
    f->smallest = g->smallest;
    f->largest = g->largest;
    return good;
}

/* ---- solving ---- */

/* Blocks begin .. end - 1 of p + iq -= (p_k + i q_k) x, x a column of L or U. */
DAE_INLINE void subtract_blocks(int n, int parts, int k, int begin, int end, double *x,
                                dae_block *p, dae_block *q)
{
    const double *w = second(n, parts, x);
    dae_block s = all(p[k / DAE_WIDE][k % DAE_WIDE]);
    dae_block t = all(q[k / DAE_WIDE][k % DAE_WIDE]);
    DAE_UNROLL for (int b = begin; b < end; b++)
        subtract(parts, &p[b], &q[b], load(x + b * DAE_WIDE), load(w + b * DAE_WIDE), s, t);
}

DAE_INLINE void forward_blocks(int n, int parts, int k, double *packed, dae_block *p, dae_block *q)
{
    if (k < n - 1)
        subtract_blocks(n, parts, k, (k + 1) / DAE_WIDE, blocks_of(n),
                        column_l(n, parts, packed, k), p, q);
}

DAE_INLINE void backward_blocks(int n, int parts, int k, double *packed, dae_block *p, dae_block *q)
{
    if (k < n) subtract_blocks(n, parts, k, 0, blocks_of(k), column_u(n, parts, packed, k), p, q);
}

/* p + iq := U^-1 D^-1 L^-1 (p + iq) */
DAE_INLINE void substitute_blocks(int n, int parts, double *packed, dae_block *p, dae_block *q)
{
    double *re = inverse_d(n, parts, packed), *im = second(n, parts, re);
    forward_blocks(n, parts, 0, packed, p, q);
    forward_blocks(n, parts, 1, packed, p, q);
    forward_blocks(n, parts, 2, packed, p, q);
    forward_blocks(n, parts, 3, packed, p, q);
    forward_blocks(n, parts, 4, packed, p, q);
    forward_blocks(n, parts, 5, packed, p, q);
    forward_blocks(n, parts, 6, packed, p, q);
    forward_blocks(n, parts, 7, packed, p, q);
    forward_blocks(n, parts, 8, packed, p, q);
    DAE_UNROLL for (int b = 0; b < blocks_of(n); b++)
        multiply(parts, &p[b], &q[b], load(re + b * DAE_WIDE), load(im + b * DAE_WIDE));
    backward_blocks(n, parts, 9, packed, p, q);
    backward_blocks(n, parts, 8, packed, p, q);
    backward_blocks(n, parts, 7, packed, p, q);
    backward_blocks(n, parts, 6, packed, p, q);
    backward_blocks(n, parts, 5, packed, p, q);
    backward_blocks(n, parts, 4, packed, p, q);
    backward_blocks(n, parts, 3, packed, p, q);
    backward_blocks(n, parts, 2, packed, p, q);
    backward_blocks(n, parts, 1, packed, p, q);
}

/* x + iy := A^-1 (x + iy) */
DAE_INLINE int solve_blocks(int n, int parts, const dae_dense_lu *f, double *x, double *y)
{
    dae_block p[DAE_BLOCKS], q[DAE_BLOCKS];
    DAE_UNROLL for (int b = 0; b < blocks_of(n); b++)
    {
        p[b] = gather(x, f->order + b * DAE_WIDE, left_of(n, b));
        q[b] = p[b];
        if (parts == 2) q[b] = gather(y, f->order + b * DAE_WIDE, left_of(n, b));
    }
    substitute_blocks(n, parts, f->packed, p, q);
    DAE_UNROLL for (int b = 0; b < blocks_of(n); b++)
    {
        store_first(x + b * DAE_WIDE, p[b], left_of(n, b));
        if (parts == 2) store_first(y + b * DAE_WIDE, q[b], left_of(n, b));
    }
    return DAE_OK;
}

/* A' = U' D L' P, P the gathering by order[]. Any n: it is rarely asked for. */
static inline int solve_blocks_transposed(int parts, const dae_dense_lu *f, double *x, double *y)
{
    const int n = f->n;
    double *re = inverse_d(n, parts, f->packed), *im = second(n, parts, re);
    double p[DAE_BLOCKS_MOST], q[DAE_BLOCKS_MOST];
    for (int k = 0; k < n; k++) {
        double *u = column_u(n, parts, f->packed, k), *v = second(n, parts, u);
        double s = x[k], t = parts == 2 ? y[k] : 0;
        for (int i = 0; i < k; i++) {
            s -= parts == 2 ? u[i] * p[i] - v[i] * q[i] : u[i] * p[i];
            t -= parts == 2 ? u[i] * q[i] + v[i] * p[i] : 0;
        }
        p[k] = s;
        q[k] = t;
    }
    for (int k = n - 1; k >= 0; k--) {
        double *l = column_l(n, parts, f->packed, k), *m = second(n, parts, l);
        double s = parts == 2 ? p[k] * re[k] - q[k] * im[k] : p[k] * re[k];
        double t = parts == 2 ? p[k] * im[k] + q[k] * re[k] : 0;
        for (int i = k + 1; i < n; i++) {
            s -= parts == 2 ? l[i] * p[i] - m[i] * q[i] : l[i] * p[i];
            t -= parts == 2 ? l[i] * q[i] + m[i] * p[i] : 0;
        }
        p[k] = s;
        q[k] = t;
    }
    for (int i = 0; i < n; i++) {
        x[f->order[i]] = p[i];
        if (parts == 2) y[f->order[i]] = q[i];
    }
    return DAE_OK;
}

#endif
