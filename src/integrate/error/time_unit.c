/* time_unit.c: the unit of time in which errors of index-2 and index-3 unknowns count.
 *
 * Newton's iteration and the error test of index-2 and index-3 problems are weighted with powers of
 * h: in q' = v, v' = a l, g(q) = 0 an error of v counts h / T times, one of l (h / T)^2 times what
 * its tolerance says [HLR89; Petzold, Loetstedt 1986]. T is what h is measured in. With T = 1
 * multipliers must be as exact as positions where h is 100 in somebody's unit of time. What T
 * should be the equations tell: in a step an error e_j has to be balanced, in every equation r with
 * a derivative in which x_j stands, by errors of the others and by changes of what is
 * differentiated,
 *
 *     |K_rj| e_j = sum_v |C_rv| e_v / h + sum_(v != j) |K_rv| e_v,
 *
 * so it is worth one tolerance where that takes a tolerance of every v:
 *
 *     w_j = max_r |K_rj| / (sum_v |C_rv| / (h w_v) + sum_(v != j) |K_rv| / w_v),
 *
 * first for level 2, then for level 3 (w_v = h w_q and w_l = h^2 |a| w_q in the example). T_j is the
 * unit in which the power of h says the same.
 *
 * That is an estimate: a coefficient may pass zero, the tolerance of a velocity at rest is only
 * absolute. So the user's own unit, T = 1, stands as long as steps succeed: most people measure
 * time in what their equations move in. Where a step fails again and again, and three quarters of
 * the T_j are longer by a factor of 100, T is their lower quartile from there on. (The w_j do not
 * serve as weights themselves: an unknown whose influence vanishes for a moment would be under no
 * control. Nor does a T that is always measured: multipliers that are 0 along the solution have
 * tolerances of no size, and a flight to the Moon lost its invariant.)
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

/* c h, which stands for 1 in w_v = w_q / c, between BDF and Radau. */
static const double LEAD = 3;
/* An estimate that is not further from the unit in use than this changes nothing. */
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
        s->w[j] = fmin(w, s->w0[j]);
        unit[count++] = h * (level == DAE_INDEX2 ? ratio : sqrt(ratio));
    }
    return count;
}

int dae_measure_time(dae_solver *s, double h)
{
    double *unit = s->corrector.delta + 2 * (size_t)s->system.n;
    if (!(s->system.facts & DAE_FACT_HIGH_INDEX) || !s->corrector.have_jacobian || h == 0) return 0;
    memcpy(s->w, s->w0, (size_t)s->system.n * sizeof(double));
    int count = collect_units(s, DAE_INDEX2, fabs(h), unit, 0);
    count = collect_units(s, DAE_INDEX3, fabs(h), unit, count);
    if (count == 0) return 0;
    qsort(unit, (size_t)count, sizeof *unit, compare);
    double found = LEAD * unit[count / 4];
    if (!(found > BELIEVED * s->t_unit)) return 0;
    s->t_unit = found;
    return 1;
}
