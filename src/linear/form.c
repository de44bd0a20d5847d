/* form.c: the entries of A = K + cC seen carefully; see form.h. */
#include "linear/form.h"

#include <limits.h>

enum { EMPTY = INT_MIN };

int dae_sum_check(const dae_sum *a, dae_factor_info *info)
{
    info->row = info->column = -1;
    if (!isfinite(a->c_re) || !isfinite(a->c_im)) return DAE_E_NONFINITE_JAC;
    for (int j = 0; j < a->pattern->n; j++) {
        int64_t end = dae_column_end(a->pattern, j);
        for (int64_t k = dae_column_begin(a->pattern, j); k < end; k++) {
            /* A NaN or Inf in K or C cannot hide: finite c gives Inf, NaN or 0 Inf = NaN.
             * */
            if (isfinite(dae_sum_re(a, k)) && isfinite(a->c_im * a->C[k])) continue;
            info->row = dae_column_row(a->pattern, j, k);
            info->column = j;
            return DAE_E_NONFINITE_JAC;
        }
    }
    return DAE_OK;
}

/* e with |a_k| < 2^e, EMPTY for a zero. */
static int exponent(const dae_sum *a, int64_t k)
{
    double re = fabs(dae_sum_re(a, k)), im = fabs(dae_sum_im(a, k));
    double larger = re > im ? re : im;
    int e = EMPTY;
    if (larger > 0) (void)frexp(larger, &e);
    return e;
}

/* Rows first, then the columns of the row-scaled matrix, all in exponents: no
 * intermediate value can overflow or lose digits, whatever the sizes of the entries. */
int dae_sum_equilibrate(const dae_sum *a, int *r, int *s, dae_factor_info *info)
{
    const dae_matrix *p = a->pattern;
    for (int i = 0; i < p->n; i++) r[i] = s[i] = EMPTY;
    for (int j = 0; j < p->n; j++)
        for (int64_t k = dae_column_begin(p, j); k < dae_column_end(p, j); k++) {
            int i = dae_column_row(p, j, k), e = exponent(a, k);
            if (e > r[i]) r[i] = e;
        }
    for (int j = 0; j < p->n; j++)
        for (int64_t k = dae_column_begin(p, j); k < dae_column_end(p, j); k++) {
            int e = exponent(a, k);
            if (e == EMPTY) continue;
            e -= r[dae_column_row(p, j, k)];
            if (e > s[j]) s[j] = e;
        }
    info->row = info->column = -1;
    for (int i = 0; i < p->n; i++) {
        if (r[i] == EMPTY)
            info->row = i;
        else if (s[i] == EMPTY)
            info->column = i;
        if (r[i] == EMPTY || s[i] == EMPTY) return DAE_E_SINGULAR;
        r[i] = -r[i];
        s[i] = -s[i];
    }
    return DAE_OK;
}

void dae_shift(double *x, const int *e, int n, int count)
{
    if (!x) return;
    for (int q = 0; q < count; q++)
        for (int i = 0; i < n; i++) x[(int64_t)q * n + i] = ldexp(x[(int64_t)q * n + i], e[i]);
}
