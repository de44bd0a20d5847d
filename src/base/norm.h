/* norm.h: the one norm.
 *
 * Weighted maximum, max_i |v_i| w_i, with the place of the largest entry; a NaN anywhere gives
 * +infinity at its place. (A root-mean-square norm divides a local front by sqrt(n): on a line
 * of 1e5 nodes the trouble of ten nodes disappears. It stays an option.)
 */
#ifndef DAE_BASE_NORM_H
#define DAE_BASE_NORM_H

#include "daedalus.h"
#include <math.h>

double dae_norm_rms(int n, const double *v, const double *w, int *where);

static inline double dae_norm_max(int n, const double *v, const double *w, int *where)
{
    double m = 0;
    int k = -1;
    for (int i = 0; i < n; i++) {
        double a = fabs(v[i]) * w[i];
        if (!(a <= m)) { /* true for NaN */
            k = i;
            m = a;
            if (a != a) {
                m = INFINITY;
                break;
            }
        }
    }
    *where = k;
    return m;
}

static inline double dae_norm(dae_norm_kind kind, int n, const double *v, const double *w,
                              int *where)
{
    return kind == DAE_NORM_MAX ? dae_norm_max(n, v, w, where) : dae_norm_rms(n, v, w, where);
}

/* Two and four neighbours: loops over a handful of unknowns must not cost more in their
 * prologues than in their bodies. */
typedef double dae_two __attribute__((vector_size(16), aligned(8), may_alias));
typedef double dae_four __attribute__((vector_size(32), aligned(8), may_alias));

/* r := M p - r with a diagonal M; NULL for M is one, for p zero. 1: all finite, by the sum of
 * r_i * 0. */
static inline int dae_minus(int n, const double *M, const double *p, double *r)
{
    dae_two small = { 0, 0 };
    double last = 0;
    int i = 0;
    if (n >= 4) {
        dae_four sum = { 0, 0, 0, 0 };
        for (; i + 4 <= n; i += 4) {
            dae_four from = { 0, 0, 0, 0 }, *to = (dae_four *)(r + i);
            if (p) from = *(const dae_four *)(p + i);
            if (p && M) from *= *(const dae_four *)(M + i);
            from -= *to;
            *to = from;
            sum += from * 0.0;
        }
        small = (dae_two){ sum[0] + sum[2], sum[1] + sum[3] };
    }
    if (i + 2 <= n) {
        dae_two from = { 0, 0 }, *to = (dae_two *)(r + i);
        if (p) from = *(const dae_two *)(p + i);
        if (p && M) from *= *(const dae_two *)(M + i);
        from -= *to;
        *to = from;
        small += from * 0.0;
        i += 2;
    }
    if (i < n) {
        r[i] = (p ? (M ? M[i] * p[i] : p[i]) : 0) - r[i];
        last = r[i] * 0.0;
    }
    return (small[0] + small[1]) + last == 0;
}

/* First non-finite entry, -1 if there is none. The sum of v_i * 0 is 0 or NaN: no branch, eight
 * sums so that long vectors stream; the place is looked up only when needed. */
static inline int dae_find_nonfinite(int64_t n, const double *v)
{
    dae_two small = { 0, 0 };
    double last = 0;
    int64_t i = 0;
    if (n >= 4) {
        dae_four a = { 0, 0, 0, 0 }, b = { 0, 0, 0, 0 };
        for (; i + 8 <= n; i += 8) {
            a += *(const dae_four *)(v + i) * 0.0;
            b += *(const dae_four *)(v + i + 4) * 0.0;
        }
        if (i + 4 <= n) {
            a += *(const dae_four *)(v + i) * 0.0;
            i += 4;
        }
        a += b;
        small = (dae_two){ a[0] + a[2], a[1] + a[3] };
    }
    if (i + 2 <= n) {
        small += *(const dae_two *)(v + i) * 0.0;
        i += 2;
    }
    if (i < n) last = v[i] * 0.0;
    if ((small[0] + small[1]) + last == 0) return -1;
    for (i = 0; i < n; i++)
        if (!isfinite(v[i])) return (int)i;
    return -1;
}

#endif
