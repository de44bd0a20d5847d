/* form.h: the entries of A = K + cC, and the careful treatment all backends share.
 *
 * The usual path of a backend forms A in its own layout and factors it at once. What is
 * here runs only when that path met something suspicious: it looks for the entry that is
 * not finite, for an empty row or column, and equilibrates by powers of two.
 */
#ifndef DAE_LINEAR_FORM_H
#define DAE_LINEAR_FORM_H

#include "linear/linear.h"

#include <math.h>

/* A pivot is suspicious when it is smaller than this part of its column's 1-norm.
 * Rounding leaves about 2^-53; the index-3 matrices of ordinary steps (pivots of size
 * 1/c^2) stay above it and so on the fast path. */
#define DAE_PIVOT_SUSPICIOUS 0x1p-44
/* Reciprocals of pivots above this do not overflow, nor do products with them. */
#define DAE_PIVOT_SMALLEST 0x1p-1000
/* Column sums below this leave room for 60 doublings, the growth of a 60 x 60
 * elimination. */
#define DAE_SUM_LARGEST 0x1p+960
/* A pivot is noise when it is smaller than this part of |a_ij| + sum |l_ik| |u_kj|, the
 * sizes of what was added up to give it: a few roundings of its own, and the roundings
 * that came down to it through up to n earlier pivots, which add up like a random walk (a
 * chain of n conductances without ground shows it). The quotient does not change when
 * rows and columns are scaled, so a matrix is called singular for what it is, not for the
 * units of its unknowns. */
static inline double dae_pivot_noise(int n)
{
    return 0x1p-51 * (1 + sqrt(n));
}

typedef struct dae_sum {
    const dae_matrix *pattern;
    const double *K, *C;
    double c_re, c_im;
} dae_sum;

static inline double dae_sum_re(const dae_sum *a, int64_t k)
{
    return a->K[k] + a->c_re * a->C[k];
}
static inline double dae_sum_im(const dae_sum *a, int64_t k)
{
    return a->c_im == 0 ? 0 : a->c_im * a->C[k];
}

/* DAE_OK or DAE_E_NONFINITE_JAC with the first entry that is not finite (row and column
 * -1: it is c). An overflow of K + cC counts as not finite. */
int dae_sum_check(const dae_sum *a, dae_factor_info *info);

/* Exponents such that 2^(r_i + s_j) |a_ij| <= 1 and every row and column has an entry
 * near 1. DAE_E_SINGULAR with the row (column -1) or the column (row -1) that is all
 * zero. */
int dae_sum_equilibrate(const dae_sum *a, int *r, int *s, dae_factor_info *info);

/* x_i := 2^(e_i) x_i for `count` vectors of length n; x may be NULL. */
void dae_shift(double *x, const int *e, int n, int count);

/* 1 / (re + i im) without overflow on the way (Smith 1962). */
static inline void dae_invert(double re, double im, double *out_re, double *out_im)
{
    if (fabs(re) >= fabs(im)) {
        double q = im / re, d = re + im * q;
        *out_re = 1 / d;
        *out_im = -q / d;
    } else {
        double q = re / im, d = im + re * q;
        *out_re = q / d;
        *out_im = -1 / d;
    }
}

#endif
