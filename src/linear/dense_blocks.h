/* dense_blocks.h: complex LU for the smallest dense matrices, n <= DAE_BLOCKS_MOST.
 *
 *     a_(order[i], j) = (L D U)_ij,   L and U with unit diagonals, D diagonal.
 *
 * Columns are cut into blocks of DAE_WIDE rows, one vector register each, and padded with
 * zeros. L and U lie apart, with zeros where the other one would be: no loop has a ragged
 * end, and a right side stays in registers from beginning to end. D is kept inverted and
 * apart, so that the chain of dependent operations in a solution has no products with
 * pivots. All this needs a constant n: dense_sizes.c.
 *
 * A column is `rows` real parts, then as many imaginary ones; f->packed holds the columns
 * of L, those of U and 1 / D.
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

/* Rows b DAE_WIDE .. of a vector of length n, whatever follows it. */
DAE_INLINE int left_of(int n, int b)
{
    return n - b * DAE_WIDE < DAE_WIDE ? n - b * DAE_WIDE : DAE_WIDE;
}

DAE_INLINE void store_first(double *x, dae_block y, int m)
{
    if (m == DAE_WIDE)
        store(x, y);
    else
        for (int i = 0; i < m; i++)
            x[i] = y[i];
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

/* ---- the parts of f->packed ---- */

DAE_INLINE double *column_l(int n, double *packed, int j)
{
    return packed + j * 2 * DAE_WIDE * blocks_of(n);
}

DAE_INLINE double *column_u(int n, double *packed, int j)
{
    return column_l(n, packed, n + j);
}

DAE_INLINE double *inverse_d(int n, double *packed)
{
    return column_l(n, packed, 2 * n);
}

/* ---- factoring ---- */

/* As form_real. */
DAE_INLINE double form_blocks(int n, dae_dense_lu *f, const double *K, const double *C,
                              double re, double im)
{
    const int rows = DAE_WIDE * blocks_of(n);
    dae_block total = all((re - re) + (im - im)); /* 0, or NaN */
    for (int j = 0; j < n; j++) {
        double *x = column_u(n, f->packed, j);
        dae_block sum = { 0 };
        DAE_UNROLL for (int b = 0; b < blocks_of(n); b++)
        {
            int at = b * DAE_WIDE, m = left_of(n, b);
            dae_block k = load_first(K + j * n + at, m), c = load_first(C + j * n + at, m);
            dae_block y = k + re * c, z = im * c;
            store(x + at, y);
            store(x + at + rows, z);
            sum += absolute(y) + absolute(z);
        }
        f->least[j] = DAE_BLOCKS_SMALLEST + DAE_PIVOT_SUSPICIOUS * sum_of(sum);
        total += sum;
    }
    return sum_of(total);
}

/* The row of the largest |re| + |im| in rows k .. of column x. */
DAE_INLINE int largest_of(int n, int k, const double *x, double *largest)
{
    const int rows = DAE_WIDE * blocks_of(n);
    double size[DAE_BLOCKS * DAE_WIDE];
    int p = k;
    DAE_UNROLL for (int b = k / DAE_WIDE; b < blocks_of(n); b++)
    {
        const double *y = x + b * DAE_WIDE;
        store(size + b * DAE_WIDE, absolute(load(y)) + absolute(load(y + rows)));
    }
    *largest = size[k];
    DAE_UNROLL for (int i = k + 1; i < n; i++)
        if (size[i] > *largest) {
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
DAE_INLINE void exchange_rows(int n, int k, int p, dae_dense_lu *f)
{
    const int rows = DAE_WIDE * blocks_of(n);
    int row = f->order[k];
    f->order[k] = f->order[p];
    f->order[p] = row;
    for (int j = 0; j < n; j++) {
        double *x = j < k ? column_l(n, f->packed, j) : column_u(n, f->packed, j);
        exchange(x, k, p);
        exchange(x + rows, k, p);
    }
}

/* As eliminate_column. */
DAE_INLINE int eliminate_blocks_column(int n, int k, dae_dense_lu *f)
{
    const int rows = DAE_WIDE * blocks_of(n), first = (k + 1) / DAE_WIDE;
    double *x = column_u(n, f->packed, k), *l = column_l(n, f->packed, k);
    double *inverse = inverse_d(n, f->packed), largest;
    int p = largest_of(n, k, x, &largest);
    if (!(largest > f->least[k]))
        return 0;
    f->smallest = largest < f->smallest ? largest : f->smallest;
    f->largest = largest > f->largest ? largest : f->largest;
    if (p != k)
        exchange_rows(n, k, p, f);
    double r = 1 / (x[k] * x[k] + x[k + rows] * x[k + rows]);
    double re = x[k] * r, im = -x[k + rows] * r;
    inverse[k] = re;
    inverse[k + rows] = im;
    if (k == n - 1)
        return 1;
    dae_block s[DAE_BLOCKS], t[DAE_BLOCKS]; /* column k of L */
    DAE_UNROLL for (int b = first; b < blocks_of(n); b++)
    {
        int at = b * DAE_WIDE;
        dae_block y = load(x + at), z = load(x + at + rows);
        s[b] = y * re - z * im;
        t[b] = y * im + z * re;
        if (at <= k) {
            s[b] = below_row(s[b], b, k + 1);
            t[b] = below_row(t[b], b, k + 1);
        }
        store(l + at, s[b]);
        store(l + at + rows, t[b]);
    }
    for (int j = k + 1; j < n; j++) {
        double *w = column_u(n, f->packed, j), u = w[k], v = w[k + rows];
        DAE_UNROLL for (int b = first; b < blocks_of(n); b++)
        {
            int at = b * DAE_WIDE;
            store(w + at, load(w + at) - s[b] * u + t[b] * v);
            store(w + at + rows, load(w + at + rows) - s[b] * v - t[b] * u);
        }
    }
    return 1;
}

/* Written out, here and below: not every compiler unrolls a loop around loops. */
DAE_INLINE int eliminate_blocks(int n, dae_dense_lu *f)
{
    if (n > 0 && !eliminate_blocks_column(n, 0, f))
        return 0;
    if (n > 1 && !eliminate_blocks_column(n, 1, f))
        return 1;
    if (n > 2 && !eliminate_blocks_column(n, 2, f))
        return 2;
    if (n > 3 && !eliminate_blocks_column(n, 3, f))
        return 3;
    if (n > 4 && !eliminate_blocks_column(n, 4, f))
        return 4;
    if (n > 5 && !eliminate_blocks_column(n, 5, f))
        return 5;
    if (n > 6 && !eliminate_blocks_column(n, 6, f))
        return 6;
    if (n > 7 && !eliminate_blocks_column(n, 7, f))
        return 7;
    if (n > 8 && !eliminate_blocks_column(n, 8, f))
        return 8;
    if (n > 9 && !eliminate_blocks_column(n, 9, f))
        return 9;
    return n;
}

/* Block b of column j of U := D^-1 U, zero on and below the diagonal. */
DAE_INLINE void divide_block(int n, int b, int j, double *packed, dae_block re,
                             dae_block im)
{
    double *x = column_u(n, packed, j) + b * DAE_WIDE, *w = x + DAE_WIDE * blocks_of(n);
    dae_block y = load(x), z = load(w);
    dae_block s = y * re - z * im, t = y * im + z * re;
    int whole = j >= (b + 1) * DAE_WIDE;
    store(x, whole ? s : above_row(s, b, j));
    store(w, whole ? t : above_row(t, b, j));
}

DAE_INLINE void divide_by_pivots(int n, double *packed)
{
    const double *re = inverse_d(n, packed), *im = re + DAE_WIDE * blocks_of(n);
    DAE_UNROLL for (int b = 0; b < blocks_of(n); b++)
    {
        dae_block r = load(re + b * DAE_WIDE), i = load(im + b * DAE_WIDE);
        int j = b * DAE_WIDE + 1;
        if (j < n)
            divide_block(n, b, j, packed, r, i);
        if (j + 1 < n && DAE_WIDE > 2)
            divide_block(n, b, j + 1, packed, r, i);
        if (j + 2 < n && DAE_WIDE > 2)
            divide_block(n, b, j + 2, packed, r, i);
        for (j = (b + 1) * DAE_WIDE; j < n; j++)
            divide_block(n, b, j, packed, r, i);
    }
}

DAE_INLINE int factor_blocks(int n, dae_dense_lu *f, const double *K, const double *C,
                             double re, double im)
{
    if (!(form_blocks(n, f, K, C, re, im) < DAE_BLOCKS_LARGEST))
        return -1;
    f->smallest = INFINITY;
    f->largest = 0;
    for (int i = 0; i < n; i++)
        f->order[i] = i;
    int good = eliminate_blocks(n, f);
    if (good == n)
        divide_by_pivots(n, f->packed);
    return good;
}

/* ---- solving ---- */

/* (p, q) -= (p_k, q_k) times column k of L */
DAE_INLINE void forward_blocks(int n, int k, double *packed, dae_block *p, dae_block *q)
{
    if (k > n - 2)
        return;
    const double *x = column_l(n, packed, k), *w = x + DAE_WIDE * blocks_of(n);
    dae_block s = all(p[k / DAE_WIDE][k % DAE_WIDE]);
    dae_block t = all(q[k / DAE_WIDE][k % DAE_WIDE]);
    DAE_UNROLL for (int b = (k + 1) / DAE_WIDE; b < blocks_of(n); b++)
    {
        dae_block y = load(x + b * DAE_WIDE), z = load(w + b * DAE_WIDE);
        p[b] = p[b] - y * s + z * t;
        q[b] = q[b] - y * t - z * s;
    }
}

/* (p, q) -= (p_k, q_k) times column k of U */
DAE_INLINE void backward_blocks(int n, int k, double *packed, dae_block *p, dae_block *q)
{
    if (k > n - 1)
        return;
    const double *x = column_u(n, packed, k), *w = x + DAE_WIDE * blocks_of(n);
    dae_block s = all(p[k / DAE_WIDE][k % DAE_WIDE]);
    dae_block t = all(q[k / DAE_WIDE][k % DAE_WIDE]);
    DAE_UNROLL for (int b = 0; b < blocks_of(k); b++)
    {
        dae_block y = load(x + b * DAE_WIDE), z = load(w + b * DAE_WIDE);
        p[b] = p[b] - y * s + z * t;
        q[b] = q[b] - y * t - z * s;
    }
}

/* (p, q) := U^-1 D^-1 L^-1 (p, q) */
DAE_INLINE void substitute_blocks(int n, double *packed, dae_block *p, dae_block *q)
{
    const double *inverse = inverse_d(n, packed);
    forward_blocks(n, 0, packed, p, q);
    forward_blocks(n, 1, packed, p, q);
    forward_blocks(n, 2, packed, p, q);
    forward_blocks(n, 3, packed, p, q);
    forward_blocks(n, 4, packed, p, q);
    forward_blocks(n, 5, packed, p, q);
    forward_blocks(n, 6, packed, p, q);
    forward_blocks(n, 7, packed, p, q);
    forward_blocks(n, 8, packed, p, q);
    DAE_UNROLL for (int b = 0; b < blocks_of(n); b++)
    {
        dae_block re = load(inverse + b * DAE_WIDE), s = p[b];
        dae_block im = load(inverse + (blocks_of(n) + b) * DAE_WIDE);
        p[b] = s * re - q[b] * im;
        q[b] = s * im + q[b] * re;
    }
    backward_blocks(n, 9, packed, p, q);
    backward_blocks(n, 8, packed, p, q);
    backward_blocks(n, 7, packed, p, q);
    backward_blocks(n, 6, packed, p, q);
    backward_blocks(n, 5, packed, p, q);
    backward_blocks(n, 4, packed, p, q);
    backward_blocks(n, 3, packed, p, q);
    backward_blocks(n, 2, packed, p, q);
    backward_blocks(n, 1, packed, p, q);
}

/* A' = U' D L' P, P the gathering by order[]; any n. */
static inline void solve_blocks_transposed(const dae_dense_lu *f, double *x, double *y)
{
    const int n = f->n, rows = DAE_WIDE * blocks_of(n);
    const double *re = inverse_d(n, f->packed), *im = re + rows;
    double p[DAE_BLOCKS_MOST], q[DAE_BLOCKS_MOST];
    for (int k = 0; k < n; k++) {
        const double *u = column_u(n, f->packed, k), *v = u + rows;
        for (int i = 0; i < k; i++) {
            x[k] -= u[i] * x[i] - v[i] * y[i];
            y[k] -= u[i] * y[i] + v[i] * x[i];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *u = column_l(n, f->packed, k), *v = u + rows;
        p[k] = x[k] * re[k] - y[k] * im[k];
        q[k] = x[k] * im[k] + y[k] * re[k];
        for (int i = k + 1; i < n; i++) {
            p[k] -= u[i] * p[i] - v[i] * q[i];
            q[k] -= u[i] * q[i] + v[i] * p[i];
        }
    }
    for (int i = 0; i < n; i++) {
        x[f->order[i]] = p[i];
        y[f->order[i]] = q[i];
    }
}

/* x + iy := A^-1 (x + iy) */
DAE_INLINE void solve_blocks(int n, const dae_dense_lu *f, double *x, double *y)
{
    dae_block p[DAE_BLOCKS], q[DAE_BLOCKS];
    DAE_UNROLL for (int b = 0; b < blocks_of(n); b++)
    {
        p[b] = gather(x, f->order + b * DAE_WIDE, left_of(n, b));
        q[b] = gather(y, f->order + b * DAE_WIDE, left_of(n, b));
    }
    substitute_blocks(n, f->packed, p, q);
    DAE_UNROLL for (int b = 0; b < blocks_of(n); b++)
    {
        store_first(x + b * DAE_WIDE, p[b], left_of(n, b));
        store_first(y + b * DAE_WIDE, q[b], left_of(n, b));
    }
}

#endif
