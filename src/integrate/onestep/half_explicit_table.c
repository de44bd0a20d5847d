/* half_explicit_table.c: an explicit table in double, with the error estimate that goes with it. */
#include "integrate/onestep/half_explicit.h"
#include "base/float_check.h"

#include <string.h>

enum { MOST = DAE_STAGES_MOST };

/* Estimates that use y' at the ends of the step, multiplied by h.
 *
 * rk4: 1/6 (P_4 - y'_{n+1}): y'_{n+1} in the place of P_4 gives another formula of order 3.
 * herk-2: 1/6 (y'_n - 2 P_2 + y'_{n+1}), Simpson's rule with P_2 as its middle against the
 *   midpoint rule, O(h^3), and 1/2 (y'_{n+1} - y'_n), which is O(h^2). With the first alone the
 *   estimate has the order of the local error, as in no other method here, and the error would
 *   fall only like the power 2/3 of the tolerance.
 * herk-3: d must annihilate 1 and c and leave out P_1, whose Z_1 is only a first guess. The
 *   second difference of y'_n, P_2, y'_{n+1} does, and so does P_3 - y'_{n+1}: the first sees
 *   quadratures, the second the defects of the stages. O(h^3).
 * hem4: the index-2 conditions of order 3 on d over (y'_n, P_3, P_4, P_5, y'_{n+1}) are the
 *   moments 1, c, c^2 and sum d_i (omega c~^3 - 3 c^2)_i = 0 (omega is the inverse of the
 *   extended lower triangular matrix, c~ the shifted nodes; the other defects are proportional
 *   or zero). They leave one direction, (1, -1/3 - w, -1/3 + w, 2/3, -1) with w = sqrt(6) / 2,
 *   whose third moment is -1/10. O(h^4). */
typedef struct companion {
    const char *name;
    int index2, power;
    double begin, e[MOST], end;
} companion;

/* sqrt(6) / 2 */
#define W 1.2247448713915890
/* Any multiple will do; this one leaves errors of about the tolerance on the pendulum, index 0
 * to 2. */
static const double HEM4 = 1.0 / 3;

static const companion companions[] = {
    { "rk4", 0, 4, 0, { 0, 0, 0, 1.0 / 6 }, -1.0 / 6 },
    { "herk-2", 1, 2, -1.0 / 3, { 0, -1.0 / 3 }, 2.0 / 3 },
    { "herk-3", 1, 3, 1.0 / 6, { 0, -0.25, 0.25 }, -1.0 / 6 },
    { "hem4", 1, 4, 1, { 0, 0, -1.0 / 3 - W, -1.0 / 3 + W, 2.0 / 3 }, -1 },
};

static const companion *find_companion(const char *name)
{
    for (size_t i = 0; i < sizeof companions / sizeof *companions; i++)
        if (!strcmp(companions[i].name, name)) return &companions[i];
    return NULL;
}

/* Without an estimate of its own: the trapezoidal rule over y' at both ends, O(h^3), or the true
 * error of a method of order 1. */
static void take_estimate(dae_half_table *g, const dae_tableau *table, const companion *known)
{
    if (known) {
        double scale = !strcmp(known->name, "hem4") ? HEM4 : 1;
        g->power = known->power;
        g->e_begin = scale * known->begin;
        g->e_end = scale * known->end;
        for (int i = 0; i < g->stages; i++) g->e[i] = scale * known->e[i];
    } else if (table->embedded_order > 0) {
        int lower = table->embedded_order < g->order ? table->embedded_order : g->order;
        g->power = lower + 1;
        for (int i = 0; i < g->stages; i++) g->e[i] = (double)(table->b[i] - table->b_hat[i]);
    } else {
        g->power = g->order < 2 ? 2 : 3;
        g->e_begin = g->e_end = -0.5;
        for (int i = 0; i < g->stages; i++) g->e[i] = (double)table->b[i];
    }
}

static void take_table(dae_half_table *g, const dae_tableau *table, const companion *known)
{
    int s = g->stages = table->stages;
    g->order = table->order;
    g->terms = table->dense_order > 0 ? table->dense_terms : 0;
    g->ends_itself = (double)table->c[s - 1] == 1;
    for (int i = 0; i <= s; i++)
        for (int j = 0; j < s; j++) g->A[i][j] = (double)(i < s ? table->A[i][j] : table->b[j]);
    for (int i = 0; i < s; i++) {
        g->c[i] = (double)table->c[i];
        g->ends_itself &= g->A[s - 1][i] == g->A[s][i];
        for (int k = 0; k < g->terms; k++) g->dense[i][k] = (double)table->dense[i][k];
    }
    g->c[s] = 1;
    g->index2 = known && known->index2;
    take_estimate(g, table, known);
}

int dae_half_table_find(const char *name, dae_half_table *out)
{
    dae_tableau table;
    if (!dae_tableau_find(name, &table) || table.kind != DAE_TABLEAU_EXPLICIT) return 0;
    *out = (dae_half_table){ 0 };
    take_table(out, &table, find_companion(name));
    return 1;
}
