/* levels.c: unknowns of index 2 that nobody declared.
 *
 * Whether an unknown is differential shows in F_x'. Whether an algebraic one is of index 1 or 2 shows
 * in (K + cC)^-1, what a step of size 1 / c makes of errors in the equations: as c grows it is of the
 * size of c^-1 for a differential unknown, of 1 for one that its equations determine, and of c for one
 * that they do not until one of them is differentiated. (Of velocities beside constraints on positions
 * it is c, of their multipliers c^2.) Circuits in charges and voltages, q' = i(v), q = q(v), are of that
 * kind wherever dq/dv is singular, as at every node without a capacitor to ground; books call them
 * index 1, which i(v) and dq/dv v' = i(v) are. Taken for index 1 they end in Newton's noise: it is 1 / h
 * times rounding, and no step is short enough.
 *
 * Asked at the first point and at one beside it: where an equation is singular by accident it need not
 * be index 2. Systems of index 3 are left to who declares them, and so is everything where a method
 * was asked for by name; formulations of mechanisms know their index.
 */
#include "integrate/choose.h"
#include "integrate/solver.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

/* Rates at which to look, in units of the fastest in the equations: K is known to 8 digits. */
enum { LOOKS = 3, SIDES = 3 };
static const double RATES[LOOKS] = { 32, 512, 8192 };

/* An exponent of c between these is 1. */
static const double LEAST = 0.75, MOST = 1.25;
/* Of a differential unknown it is below. */
static const double NONE = 0.75;

/* Three factorizations are little beside a run, but for large systems: those are left to who declares them. */
enum { LARGEST = 10000 };

static double random_sign(uint64_t *bits)
{
    *bits ^= *bits << 13;
    *bits ^= *bits >> 7;
    *bits ^= *bits << 17;
    return *bits & 1 ? 1 : -1;
}

/* Row sums of |K| in tolerances, and the fastest rate; 0: there is none. */
static double fastest(const dae_solver *s, double *k_row, double *c_row)
{
    const dae_matrix *a = &s->system.matrix;
    const dae_corrector *q = &s->corrector;
    double rate = 0;
    memset(k_row, 0, (size_t)a->n * sizeof(double));
    memset(c_row, 0, (size_t)a->n * sizeof(double));
    for (int j = 0; j < a->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++) {
            k_row[dae_column_row(a, j, k)] += fabs(q->K[k]) / s->w0[j];
            c_row[dae_column_row(a, j, k)] += fabs(q->C[k]) / s->w0[j];
        }
    for (int i = 0; i < a->n; i++)
        if (c_row[i] > 0) rate = fmax(rate, k_row[i] / c_row[i]);
    return isfinite(rate) ? rate : 0;
}

/* The largest of |z_i| over some right sides, (K + cC) z = b; 0: the matrix is singular. */
static int measure(dae_solver *s, double c, const double *k_row, double *size)
{
    dae_corrector *q = &s->corrector;
    int n = s->system.n;
    uint64_t bits = 0x9e3779b97f4a7c15ULL;
    for (int k = 0; k < SIDES; k++)
        for (int i = 0; i < n; i++)
            q->delta[(size_t)k * (size_t)n + (size_t)i] = random_sign(&bits) * k_row[i];
    q->scaling.ready = 0;
    if (dae_corrector_factor(q, c) != DAE_OK ||
        dae_corrector_solve_with(q, q->delta, SIDES) != DAE_OK)
        return 0;
    for (int i = 0; i < n; i++) {
        size[i] = 0;
        for (int k = 0; k < SIDES; k++)
            size[i] = fmax(size[i], fabs(q->delta[(size_t)k * (size_t)n + (size_t)i]) * s->w0[i]);
    }
    return 1;
}

/* Marks algebraic unknowns whose part of (K + cC)^-1 grows with c. How many; 0 also where it is
 * another matter. work: n * (LOOKS + 2) numbers. */
static int mark_growing(dae_solver *s, double *work, unsigned char *mark)
{
    int n = s->system.n, count = 0;
    double *k_row = work + (size_t)LOOKS * (size_t)n, rate = fastest(s, k_row, k_row + n);
    for (int l = 0; l < LOOKS; l++)
        if (!(rate > 0) || !measure(s, rate * RATES[l], k_row, work + (size_t)l * (size_t)n))
            return 0;
    for (int i = 0; i < n; i++) {
        double least = INFINITY, most = -INFINITY;
        for (int l = 1; l < LOOKS; l++) {
            double before = work[(size_t)(l - 1) * (size_t)n + (size_t)i],
                   now = work[(size_t)l * (size_t)n + (size_t)i];
            double power =
                before > 0 && now > 0 ? log(now / before) / log(RATES[l] / RATES[l - 1]) : 0;
            least = fmin(least, power);
            most = fmax(most, power);
        }
        mark[i] = s->system.level[i] == DAE_ALGEBRAIC && least > LEAST;
        count += mark[i];
        if (most > MOST || (s->system.level[i] == DAE_DIFFERENTIAL && most > NONE)) return 0;
    }
    return count;
}

/* The same beside the point. */
static int confirm(dae_solver *s, double t, const double *x, const double *p, double *work,
                   unsigned char *mark)
{
    int n = s->system.n, count = 0;
    double *beside = work + (size_t)(LOOKS + 2) * (size_t)n;
    unsigned char *again = mark + n;
    uint64_t bits = 0x2545f4914f6cdd1dULL;
    for (int i = 0; i < n; i++)
        beside[i] = x[i] + random_sign(&bits) * (1e-3 * fabs(x[i]) + 1 / s->w0[i]);
    if (dae_corrector_renew(&s->corrector, t, beside, p, 0, s->w0) != DAE_OK ||
        !mark_growing(s, work, again))
        return 0;
    for (int i = 0; i < n; i++) count += mark[i] &= again[i];
    return count;
}

static int any_algebraic(const dae_solver *s)
{
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] == DAE_ALGEBRAIC) return 1;
    return 0;
}

int dae_find_index_2(dae_solver *s, double t, const double *x, const double *p)
{
    dae_system *sys = &s->system;
    size_t n = (size_t)sys->n;
    if (sys->problem.level || sys->problem.motion || sys->computed || s->choice < 0 ||
        sys->n > LARGEST)
        return 0;
    if (!any_algebraic(s)) return 0;
    double *work = dae_alloc(&s->memory, n * (LOOKS + 3), sizeof(double));
    unsigned char *mark = dae_alloc(&s->memory, 2 * n, 1);
    double *w = dae_alloc(&s->memory, n, sizeof(double));
    int found = !work || !mark || !w
                    ? DAE_E_NOMEM
                    : mark_growing(s, work, mark) > 0 && confirm(s, t, x, p, work, mark) > 0;
    for (size_t i = 0; found > 0 && i < n; i++)
        if (mark[i]) sys->level[i] = DAE_INDEX2;
    if (found > 0) { /* w and w0 are one where no level is above 1 */
        sys->facts |= DAE_FACT_HIGH_INDEX;
        if (s->w_error == s->w) s->w_error = w;
        s->w = w;
        w = NULL;
    }
    dae_free(&s->memory, w);
    dae_free(&s->memory, work);
    dae_free(&s->memory, mark);
    s->corrector.have_factor = s->corrector.have_jacobian = 0;
    return found;
}
