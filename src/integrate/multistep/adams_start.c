/* adams_start.c: steps of full order before there is a past.
 *
 * With steps of prescribed size a method of order q needs q - 1 points before it can begin. They
 * come from the Gauss method of six stages, order 12, at the same step size,
 *
 *     P_i = F(t_n + c_i h, y_n + h sum_j a_ij P_j),     y_{n+1} = y_n + h sum_i b_i P_i,
 *
 * solved by fixed-point iteration down to rounding: each sweep gains an order, so there is
 * nothing to tune, and it converges wherever the Adams formulas themselves are stable. It looks
 * neither behind t_n nor beyond t_{n+1}. About 20 sweeps make it dear; it is done q - 2 times in
 * a run. Between such points a shorter step of the same kind is the dense output.
 */
#include "integrate/multistep/adams.h"
#include "base/float_check.h"
#include "tableau/tableau.h"

#include <math.h>
#include <string.h>

enum { MOST_SWEEPS = 100 };

dae_status dae_adams_leap_open(dae_adams *g)
{
    dae_tableau table;
    if (!dae_tableau_find("gauss-6", &table)) return DAE_E_INTERNAL;
    for (int i = 0; i < ADAMS_STAGES; i++) {
        for (int j = 0; j < ADAMS_STAGES; j++) g->A[i][j] = (double)table.A[i][j];
        g->b[i] = (double)table.b[i];
        g->c[i] = (double)table.c[i];
    }
    return DAE_OK;
}

/* out = y + h sum_j a_j P_j */
static void combine(const dae_adams *g, const double *y, double h, const double *a, double *out)
{
    for (int i = 0; i < g->advanced; i++) {
        double sum = 0;
        for (int j = 0; j < ADAMS_STAGES; j++) sum += a[j] * g->P[j][i];
        out[i] = y[i] + h * sum;
    }
}

/* One pass over the stages, each with what the others are by now: the largest change of h P in
 * units of |y| + |h P|. Entries of algebraic unknowns follow the others. */
static int sweep(dae_solver *s, dae_adams *g, double t, double h, const double *y, double *change)
{
    int status = DAE_OK, computed = s->system.computed;
    double size = DBL_MIN, most = 0;
    for (int i = 0; i < ADAMS_STAGES && status == DAE_OK; i++) {
        double *P = g->P[i];
        combine(g, y, h, g->A[i], g->lower);
        dae_adams_unpack(s, g, P, g->x, g->p);
        status = dae_adams_ask(s, g, t + g->c[i] * h, h, g->lower, g->x, g->p);
        if (status != DAE_OK) break;
        dae_adams_pack(s, g, g->x, g->p, g->row);
        for (int l = 0; l < g->advanced; l++) {
            if (!computed && s->system.level[l] != DAE_DIFFERENTIAL) continue;
            size = fmax(size, fabs(y[l]) + fabs(h * g->row[l]));
            most = fmax(most, fabs(h * (g->row[l] - P[l])));
        }
        memcpy(P, g->row, (size_t)g->width * sizeof(double));
    }
    *change = most / size;
    return status;
}

/* Done when a sweep changes nothing but rounding, or no longer less than the one before. */
int dae_adams_leap(dae_solver *s, dae_adams *g, double t, double h, const double *y,
                   const double *x, const double *p, double *y_new)
{
    double change = INFINITY, last, best = INFINITY;
    int idle = 0;
    for (int i = 0; i < ADAMS_STAGES; i++) dae_adams_pack(s, g, x, p, g->P[i]);
    for (int m = 0; m < MOST_SWEEPS; m++) {
        last = change;
        int status = sweep(s, g, t, h, y, &change);
        if (status != DAE_OK) return status;
        if (!isfinite(change)) return DAE_STEP_NONFINITE;
        idle = change < 0.9 * best ? 0 : idle + 1;
        best = fmin(best, change);
        if (change <= 2 * DBL_EPSILON || (idle >= 3 && change < 1e-10)) {
            combine(g, y, h, g->b, y_new);
            return DAE_OK;
        }
        if (m > 10 && change > 10 * last) break;
    }
    dae_fail(&s->report, DAE_E_CONVERGENCE,
             "the starting values of the fixed steps were not found");
    dae_at(&s->report, "t = %.10g, h = %.3g", t, h);
    dae_why(&s->report,
            "the iteration for a step of order 12 does not converge: its last change "
            "is %.2g of the solution",
            change);
    dae_hint(&s->report, "a smaller option 'fixed_step'; if the problem is stiff, bdf or radau");
    return DAE_E_CONVERGENCE;
}
