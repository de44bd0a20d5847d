/* singular.c: is a run near a position where constraints become dependent?
 *
 * The measure is the smallest pivot of the independent constraints (rank.c): the sine of the angle
 * between the last row of W and those before it. Towards a singular position it goes to zero
 * linearly, and leaves it so again, |t - t*|, where the motion goes through.
 *
 * A run that fails does so a little before t*, where the pivot is small but not zero: how small
 * depends on the method. So the place is looked for: on the straight line q + s v the pivot has a
 * minimum near s = t* - t, of second order in s; if it is far below the pivot at hand, there is a
 * singular position, and t* is known. A mechanism whose pivot is small all the way has no such
 * minimum.
 */
#include "constraint/mechanism.h"
#include "base/float_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A pivot is suspicious below SMALL times that of the start, and zero is what is below ZERO times the
 * suspicious one; below DEPENDENT no more proof is needed (velocities may be wrong there). */
static const double SMALL = 0.05, ZERO = 0.02, DEPENDENT = 1e-4;

static double pivot_at(dae_mechanism *m, double t, const double *q)
{
    return dae_mech_matrix(m, t, q, m->W) == DAE_OK ? dae_mech_independence(m) : NAN;
}

double dae_mech_pivot(dae_motion *k, double t, const double *x)
{
    dae_mechanism *m = k->mechanism;
    return m->m > 0 && m->apart > 0 && !m->sparse ? pivot_at(m, t, x) / m->apart : NAN;
}

/* The pivot at q + s v */
static double ahead(dae_mechanism *m, double t, const double *x, double s)
{
    double *q = m->r_high;
    const double *v = m->r_low;
    for (int j = 0; j < m->n; j++) q[j] = x[j] + s * v[j];
    return pivot_at(m, t + s, q);
}

/* A time in which q can move by what the pivot, as an angle, is away from zero; 0: at rest */
static double reach(const dae_mechanism *m, double pivot)
{
    double rate = 0;
    for (int j = 0; j < m->n; j++) rate = fmax(rate, fabs(m->r_low[j]) / (32 * m->step[j]));
    return rate > 0 ? 4 * pivot / rate : 0;
}

/* Golden section for the s in [-far, far] where the pivot is smallest. NaN counts as large. */
static double smallest(dae_mechanism *m, double t, const double *x, double far)
{
    const double golden = 0.6180339887498949;
    double low = -far, high = far, a = high - golden * (high - low),
           b = low + golden * (high - low);
    double at_a = ahead(m, t, x, a), at_b = ahead(m, t, x, b);
    for (int pass = 0; pass < 40; pass++)
        if (at_a <= at_b || isnan(at_b)) {
            high = b, b = a, at_b = at_a;
            a = high - golden * (high - low), at_a = ahead(m, t, x, a);
        } else {
            low = a, a = b, at_a = at_b;
            b = low + golden * (high - low), at_b = ahead(m, t, x, b);
        }
    return (low + high) / 2;
}

/* Those that take part in the dependence, after independence() */
static void name_dependent(dae_mechanism *m, char *text, size_t size)
{
    double *y = m->lambda_side, most;
    char own[64];
    size_t at = 0;
    int named = 0;
    dae_mech_dependence(m, y);
    most = dae_mech_most(y, m->m);
    text[0] = 0;
    for (int i = 0; i < m->m && named < 8; i++) {
        if (fabs(y[i]) < 0.05 * most) continue;
        int k = snprintf(text + at, size - at, "%s'%s'", named++ ? ", " : "",
                         dae_mech_constraint_name(m, i, own));
        at += k > 0 && (size_t)k < size - at ? (size_t)k : 0;
    }
}

int dae_mech_singular(dae_motion *k, double t, const double *x, dae_motion_singular *found)
{
    dae_mechanism *m = k->mechanism;
    double pivot = m->m > 0 && m->apart > 0 && !m->sparse ? pivot_at(m, t, x) : NAN;
    if (!(pivot < SMALL * m->apart)) return 0;
    if (dae_mech_velocity_of(m, t, x, m->r_low) != DAE_OK)
        memset(m->r_low, 0, (size_t)m->n * sizeof(double));
    double far = reach(m, pivot), s = far > 0 ? smallest(m, t, x, far) : 0;
    double least = ahead(m, t, x, s);
    if (!(least < ZERO * pivot || least < DEPENDENT * m->apart)) return 0;
    *found = (dae_motion_singular){ .t = t + s, .pivot = pivot, .first = m->apart };
    name_dependent(m, found->names, sizeof found->names);
    return 1;
}
