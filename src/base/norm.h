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

/* First non-finite entry, -1 if there is none. The sum of v_i * 0 is 0 or NaN: no branch, four
 * sums so that long vectors stream; the place is looked up only when needed. */
static inline int dae_find_nonfinite(int64_t n, const double *v)
{
    double a = 0, b = 0, c = 0, d = 0;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a += v[i] * 0.0;
        b += v[i + 1] * 0.0;
        c += v[i + 2] * 0.0;
        d += v[i + 3] * 0.0;
    }
    for (; i < n; i++) a += v[i] * 0.0;
    if ((a + b) + (c + d) == 0) return -1;
    for (i = 0; i < n; i++)
        if (!isfinite(v[i])) return (int)i;
    return -1;
}

#endif
