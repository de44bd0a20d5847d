/* closer.c: the series at the point that was found, in units made for ranks.
 *
 * The search measures changes of the unknowns over the user's scale of time, and which point is
 * nearest depends on that. Ranks do not: a differential index is about s -> infinity in s C + K,
 * and over a time that is long beside 1 / k the equation x_2 = k (x_0 - 2 x_1) looks like a
 * constraint.
 * So once the point is known, time, unknowns and equations are given the units of units.c, the time
 * of the quickest parts and the duals of the largest assignment, and only ranks are read in them.
 * The curve stays: with H' = q H the coefficients of tau^k are multiplied by q^k.
 */
#include "analysis/analysis.h"

#include <math.h>

/* H in units of the time in which the quickest parts change, at most: sizes of entries tell that
 * time coarsely. */
static const double leap = 100;
/* What an entry that stands for its row and column should be, at least. */
static const double well_seen = 1e-2;

/* Entries, in units of the user, that differ by more than this leave no digits to each other. */
static const double wild = 1e8;

/* Answers the largest entry in units of the smallest. */
static double measure(const dae_series *s, dae_units *u)
{
    size_t n = (size_t)s->n;
    double most = 0, least = INFINITY;
    for (size_t k = 0; k < n * n; k++) {
        double unit = s->row[k % n] * s->column[k / n];
        double K = fabs(s->K[k]) / unit, C = fabs(s->C[k]) * s->H / unit;
        dae_units_entry(u, k, K, C);
        most = fmax(most, fmax(K, C));
        least = fmin(least, fmin(K > 0 ? K : INFINITY, C > 0 ? C : INFINITY));
    }
    return most > 0 ? most / least : 1;
}

/* The smallest entry of the assignment in the units at hand */
static double weakest_assigned(const dae_series *s, const dae_units *u)
{
    size_t n = (size_t)s->n;
    double weakest = 1;
    for (size_t j = 0; j < n; j++) {
        size_t k = (size_t)u->row_of[j] + j * n;
        weakest = fmin(weakest, fmax(fabs(s->K[k]), fabs(s->C[k])));
    }
    return weakest;
}

static void change_units(dae_series *s, const dae_units *u, double H)
{
    size_t n = (size_t)s->n, square = n * n;
    double q = H / s->H, power = 1;
    for (int j = 0; j <= DAE_MOST_SERIES; j++, power *= q)
        for (size_t i = 0; i < n; i++)
            s->c[(size_t)j * n + i] *= power * s->column[i] / exp(u->column[i]);
    power = 1;
    for (int p = 0; p <= s->order + 1; p++, power *= q)
        for (size_t k = 0; k < square; k++) {
            double unit = exp(u->row[k % n] + u->column[k / n]) /
                          (s->row[k % n] * s->column[k / n]);
            if (p <= s->order)
                s->K[(size_t)p * square + k] *= power * unit;
            s->C[(size_t)p * square + k] *= power / q * unit;
        }
    power = 1;
    for (int p = 0; p <= s->order; p++, power *= q)
        for (size_t i = 0; i < n; i++)
            s->R[(size_t)p * n + i] *= power * exp(u->row[i]) / s->row[i];
    for (size_t i = 0; i < n; i++) {
        s->row[i] = exp(u->row[i]);
        s->column[i] = exp(u->column[i]);
    }
    s->H = H;
}

dae_status dae_look_closer(dae_analysis *a)
{
    dae_series *s = &a->series;
    dae_units *u = &a->units;
    if (s->few) /* whether an assignment of so many entries is the largest depends on little */
        return DAE_OK;
    if (dae_units_open(u, s->n, &a->memory) != DAE_OK)
        return dae_analysis_no_memory(a, "the units of the equations");
    a->wild = measure(s, u) > wild;
    double time = dae_units_time(u, s->H), H = s->H > leap * time ? time : s->H;
    a->closer = dae_units_find(u, H) && (H < s->H || weakest_assigned(s, u) < well_seen);
    if (a->closer)
        change_units(s, u, H);
    return DAE_OK;
}
