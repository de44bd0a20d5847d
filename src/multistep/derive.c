/* derive.c: formulas from their order conditions, by elimination in fractions.
 *
 *     sum_j alpha_j (j - k)^q = q sum_j beta_j (j - k)^(q-1),     q = 0, 1, ...
 *
 * [Dahlquist 1956]: with rho given there is one sigma of degree k with order k + 1; with neither given
 * one pair of order 2k, normalized by alpha_k = 1, and scaled afterwards.
 */
#include "multistep/derive.h"

#include <string.h>

enum { MOST = 2 * DAE_LMM_STEPS + 2 };

typedef struct equations {
    int n;
    dae_rational a[MOST][MOST + 1]; /* the last column is the right side */
} equations;

static dae_rational power(int j, int q)
{
    dae_rational a = dae_ratio(1, 1);
    for (int i = 0; i < q; i++) a = dae_rational_times(a, dae_ratio(j, 1));
    return a;
}

/* How many betas there are. */
static int count_betas(int k, int is_explicit)
{
    return is_explicit ? k : k + 1;
}

/* Gauss-Jordan; 0: singular, or a number that does not fit. */
static int solve(equations *e, dae_rational *x)
{
    int n = e->n;
    for (int c = 0; c < n; c++) {
        int pivot = c;
        while (pivot < n && e->a[pivot][c].num == 0) pivot++;
        if (pivot == n) return 0;
        for (int j = 0; j <= n; j++) {
            dae_rational other = e->a[c][j];
            e->a[c][j] = e->a[pivot][j];
            e->a[pivot][j] = other;
        }
        for (int i = 0; i < n; i++) {
            if (i == c || e->a[i][c].num == 0) continue;
            dae_rational f = dae_rational_over(e->a[i][c], e->a[c][c]);
            for (int j = c; j <= n; j++)
                e->a[i][j] = dae_rational_subtract(e->a[i][j], dae_rational_times(f, e->a[c][j]));
        }
    }
    for (int i = 0; i < n; i++) {
        x[i] = dae_rational_over(e->a[i][n], e->a[i][i]);
        if (!dae_is_rational(x[i])) return 0;
    }
    return 1;
}

int dae_lmm_complete(dae_lmm *m, int is_explicit)
{
    int k = m->steps, n = count_betas(k, is_explicit);
    dae_rational x[MOST];
    equations e = { .n = n };
    for (int q = 0; q < n; q++) { /* sum beta_j (j-k)^q = sum alpha_j (j-k)^(q+1) / (q+1) */
        dae_rational right = dae_ratio(0, 1);
        for (int j = 0; j <= k; j++)
            right = dae_rational_add(right, dae_rational_times(m->rho[j], power(j - k, q + 1)));
        for (int j = 0; j < n; j++) e.a[q][j] = power(j - k, q);
        e.a[q][n] = dae_rational_times(right, dae_ratio(1, q + 1));
    }
    if (!solve(&e, x)) return 0;
    for (int j = 0; j <= k; j++) m->sigma[j] = j < n ? x[j] : dae_ratio(0, 1);
    return 1;
}

/* Unknowns: alpha_0 .. alpha_{k-1}, then the betas. */
int dae_lmm_most_accurate(dae_lmm *m, int k, int is_explicit)
{
    int betas = count_betas(k, is_explicit), n = k + betas;
    dae_rational x[MOST], zero = dae_ratio(0, 1);
    equations e = { .n = n };
    for (int q = 0; q < n; q++) {
        for (int j = 0; j < k; j++) e.a[q][j] = power(j - k, q);
        for (int j = 0; j < betas; j++)
            e.a[q][k + j] =
                q == 0 ? zero : dae_rational_times(dae_ratio(-q, 1), power(j - k, q - 1));
        e.a[q][n] = dae_ratio(q == 0 ? -1 : 0, 1); /* alpha_k = 1 at j - k = 0 */
    }
    if (!solve(&e, x)) return 0;
    memset(m, 0, sizeof *m);
    m->steps = k;
    dae_rational sum = zero;
    for (int j = 0; j < betas; j++) sum = dae_rational_add(sum, x[k + j]);
    for (int j = 0; j <= DAE_LMM_STEPS; j++) m->rho[j] = m->sigma[j] = m->tau[j] = zero;
    for (int j = 0; j <= k; j++) m->rho[j] = dae_rational_over(j < k ? x[j] : dae_ratio(1, 1), sum);
    for (int j = 0; j < betas; j++) m->sigma[j] = dae_rational_over(x[k + j], sum);
    return dae_is_rational(m->sigma[0]);
}
