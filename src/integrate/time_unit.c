/* time_unit.c: the unit of time in which errors of index-2 and index-3 unknowns count.
 *
 * Newton's iteration and the error test of index-2 and index-3 problems are weighted with powers of h: an
 * error of v in q' = v, v' = a l, g(q) = 0 counts as h / T times, one of l as (h / T)^2 times what its
 * tolerance says [HLR89; Petzold, Loetstedt 1986]. T is what h is measured in. With T = 1 multipliers must be
 * as exact as positions where h is 100 in somebody's unit of time, and may be anything where it is 1e-6. So T is
 * taken from the equations: in a step an error e_j has to be balanced, in every equation r with a derivative in
 * which x_j stands, by errors of the others and by changes of what is differentiated,
 *
 *     |K_rj| e_j = sum_v |C_rv| e_v / h + sum_(v != j) |K_rv| e_v,
 *
 * so it is worth one tolerance where that takes a tolerance of every v:
 *
 *     w_j = max_r |K_rj| / (sum_v |C_rv| / (h w_v) + sum_(v != j) |K_rv| / w_v),
 *
 * first for level 2, then for level 3 (w_v = h w_q and w_l = h^2 |a| w_q in the example). T_j is the unit in
 * which the power of h says the same. T is the quartile of all T_j that is nearer to 1, and the geometric mean over
 * the last Jacobians: a coefficient that passes zero, or a velocity at rest whose tolerance is only absolute,
 * decides nothing. It is an estimate, within a factor of some ten, so the user's own unit of time, T = 1, stands unless
 * it is further away than that: most people measure time in what their equations move in. (The w_j themselves do not serve as weights: an unknown whose influence vanishes for a moment
 * would be under no control, and Newton's iteration diverges there.)
 */
#include "integrate/solver.h"
#include "base/float_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* For every row the two sums over all v, that of C into `moves` and both into `all`. */
static void sum_rows(const dae_solver *s, double h, double *moves, double *all)
{
    const dae_matrix *a = &s->system.matrix;
    const dae_corrector *q = &s->corrector;
    memset(moves, 0, (size_t)a->n * sizeof(double));
    memset(all, 0, (size_t)a->n * sizeof(double));
    for (int v = 0; v < a->n; v++)
        for (int64_t k = dae_column_begin(a, v), end = dae_column_end(a, v); k < end; k++) {
            int r = dae_column_row(a, v, k);
            moves[r] += fabs(q->C[k]) / (h * s->w[v]);
            all[r] += (fabs(q->C[k]) / h + fabs(q->K[k])) / s->w[v];
        }
}

/* w_j by the rows in which j stands; 0: there is none. */
static double strongest(const dae_solver *s, int j, const double *moves, const double *all)
{
    const dae_matrix *a = &s->system.matrix;
    double most = 0;
    for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++) {
        int r = dae_column_row(a, j, k);
        double entry = fabs(s->corrector.K[k]), others = fmax(all[r] - entry / s->w[j], moves[r]);
        if (moves[r] > 0 && entry > most * others) most = entry / others;
    }
    return most;
}

/* Jacobians over which T is a mean, and c h, which stands for 1 in w_v = w_q / c, between BDF and Radau. */
enum { SPAN = 8 };
static const double LEAD = 3;
/* The user's unit of time is taken for T while the equations' is not further from it. */
static const double BELIEVED = 100;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The T_j of one level behind `count` others; s->w of that level becomes w_j. */
static int collect_units(dae_solver *s, int level, double h, double *unit, int count)
{
    const dae_system *sys = &s->system;
    double *moves = s->corrector.delta, *all = moves + sys->n;
    sum_rows(s, h, moves, all);
    for (int j = 0; j < sys->n; j++) {
        if (sys->level[j] != level) continue;
        double w = strongest(s, j, moves, all), ratio = s->w0[j] / w;
        if (!(w > 0 && ratio < DBL_MAX)) continue;
        unit[count++] = h * (level == DAE_INDEX2 ? ratio : sqrt(ratio));
        s->w[j] = fmin(w, s->w0[j]);
    }
    return count;
}

/* For steps of h, once for each Jacobian of the run. */
void dae_measure_time(dae_solver *s, double h)
{
    double *unit = s->corrector.delta + 2 * (size_t)s->system.n;
    if (!(s->system.facts & DAE_FACT_HIGH_INDEX) || s->t_unit_of == s->corrector.t_jacobian ||
        !s->corrector.have_jacobian || h == 0)
        return;
    s->t_unit_of = s->corrector.t_jacobian;
    memcpy(s->w, s->w0, (size_t)s->system.n * sizeof(double));
    int count = collect_units(s, DAE_INDEX2, fabs(h), unit, 0);
    count = collect_units(s, DAE_INDEX3, fabs(h), unit, count);
    if (count == 0) return;
    qsort(unit, (size_t)count, sizeof *unit, compare);
    double low = LEAD * unit[count / 4], high = LEAD * unit[3 * count / 4];
    double found = low > 1 ? low : high < 1 ? high : 1;
    if (s->t_unit_seen < SPAN) s->t_unit_seen++;
    double mean = s->t_unit_mean;
    mean = s->t_unit_seen > 1 ? mean * pow(found / mean, 1.0 / s->t_unit_seen) : found;
    s->t_unit_mean = mean;
    if (mean > BELIEVED || mean * BELIEVED < 1 || s->t_unit != 1) s->t_unit = mean;
}
