/* dirk_table.c: a diagonally implicit tableau as dirk.c uses it. */
#include "integrate/onestep/dirk.h"
#include "base/float_check.h"

#include <math.h>

/* The pairs of order 5(4) say little of what stiff components lose to their stage order of 2:
 * without a factor, errors come out at 5 to 50 tolerances where order 4(3) leaves about one. */
static const double OPTIMISM = 8;

/* y = v T^-1 for a lower triangular T; rows from `first` on. */
static void divide_row(int first, int s, const dae_quad *v, dae_quad T[][DAE_STAGES_MOST],
                       dae_quad *y)
{
    for (int j = s - 1; j >= first; j--) {
        dae_quad sum = v[j];
        for (int i = j + 1; i < s; i++) sum -= y[i] * T[i][j];
        y[j] = sum / T[j][j];
    }
}

void dae_lagrange(int count, const double *node, double t, double *value, double *slope)
{
    for (int i = 0; i < count; i++) {
        double v = 1, d = 0;
        for (int j = 0; j < count; j++) {
            if (j == i) continue;
            double gap = node[i] - node[j];
            d = (d * (t - node[j]) + v) / gap;
            v *= (t - node[j]) / gap;
        }
        value[i] = v;
        if (slope) slope[i] = d;
    }
}

/* The slope at the end of a step that does not end with a stage: the polynomial through the P_j. */
static void extrapolate_slope(dae_dirk_table *k)
{
    double node[DAE_DIRK_STAGES] = { 0 }, weight[DAE_DIRK_STAGES];
    int place[DAE_DIRK_STAGES], count = 0;
    for (int j = k->stages - 1; j >= 0; j--) {
        int known = 0;
        for (int l = 0; l < count; l++) known |= fabs(node[l] - k->c[j]) < 0.05;
        if (known) continue;
        place[count] = j;
        node[count++] = k->c[j];
    }
    dae_lagrange(count, node, 1, weight, NULL);
    for (int l = 0; l < count; l++) k->slope_end[place[l]] = weight[l];
}

void dae_dirk_take(dae_dirk_table *k, dae_tableau *T)
{
    int s = T->stages, first = T->A[0][0] == 0;
    dae_quad y[DAE_STAGES_MOST], rest = 1;
    k->stages = s;
    k->first = first;
    k->order = T->order;
    k->terms = T->dense_terms;
    k->gamma = (double)T->A[s - 1][s - 1];
    k->estimates = T->embedded_order > 0;
    k->power = 1.0 / ((T->embedded_order < T->order ? T->embedded_order : T->order) + 1);
    k->scale = T->order >= 5 ? OPTIMISM : 1;
    k->stiffly = 1;
    k->reach = 1;
    k->embedded_stage = -1;
    for (int i = 0; i < s; i++) {
        int embedded = i >= first, last = i == s - 1;
        for (int j = 0; j < s; j++) {
            k->A[i][j] = (double)T->A[i][j];
            if (fabs((double)(T->A[i][j] - T->b_hat[j])) > 1e-12) embedded = 0;
            if (last && fabs((double)(T->A[i][j] - T->b[j])) > 1e-12) k->stiffly = 0;
        }
        if (embedded && !last) k->embedded_stage = i;
        k->b[i] = (double)T->b[i];
        k->c[i] = (double)T->c[i];
        k->reach = fmax(k->reach, k->c[i]);
        k->e[i] = (double)(T->b[i] - T->b_hat[i]);
        for (int l = 0; l < k->terms; l++) k->dense[l][i] = (double)T->dense[i][l];
    }
    if (!k->stiffly) k->embedded_stage = -1;
    divide_row(first, s, T->b, T->A, y);
    for (int j = first; j < s; j++) {
        k->of_stage[j] = (double)y[j];
        rest -= y[j];
    }
    k->of_start = (double)rest;
    if (!k->stiffly) extrapolate_slope(k);
}
