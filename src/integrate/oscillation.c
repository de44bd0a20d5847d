/* oscillation.c: modes near the imaginary axis that multistep formulas of order 3 and up feed.
 *
 * Along exp(i w t) the difference k + 1 is -(2 sin(wh/2))^2 times the difference k - 1, along
 * exp(-a t) it is a positive multiple. So the cosine of the angle between the two, in the metric of
 * the tolerances and over differential unknowns only, says which of them the solution is made of: -1
 * oscillation, +1 relaxation. It is as good as free.
 *
 * BDF of order 3 and up amplifies part of the imaginary axis, and MEBDF of order 5 and up does. There
 * a mode of no importance grows from rounding until the error test sees it, and from then on keeps
 * the step small enough for stability: thousands of steps for a motion that order 2 follows in
 * dozens. What tells that from an oscillation that is wanted is order 2: where the solution oscillates
 * and a step of this size would pass the error test at order 2 as well, nothing is lost by order 2,
 * which damps the mode, and then the step may grow. (A wanted oscillation of amplitude A tolerances
 * that is resolved at order 5, A (wh)^6 / 14 < 1, has an error of A (wh)^3 / 4.5 at order 2: far above
 * 1 for all but the smallest.) If the step has not grown soon after, it was accuracy that limited it,
 * and the order is free again.
 */
#include "integrate/oscillation.h"

#include <math.h>

/* A mean over SPAN steps below CLEAR; held for HOLD steps, the next time for twice as many. */
enum { SPAN = 20, TRIAL = 60, HOLD = 100, LONGEST = 10000, SAFE = 2 };
static const double CLEAR = -0.5;
/* Errors at order 2 between which it is worth a trial: below, nothing limits the step yet. */
static const double LEAST = 0.05, MOST = 1;
/* The trial is in vain if the step does not grow, or shrinks. */
static const double GROWN = 1.1, SHRUNK = 0.5;

/* The error of BDF2 is so much of the third difference. */
static const double CONSTANT = 2.0 / 9;

static int twice(int steps)
{
    return steps < LONGEST / 2 ? 2 * steps : LONGEST;
}

void dae_oscillation_start(dae_oscillation *o)
{
    *o = (dae_oscillation){.hold = HOLD, .patience = HOLD};
}

int dae_oscillation_order(const dae_oscillation *o, int most)
{
    return o->held > 0 && most > SAFE ? SAFE : most;
}

/* It was right to hold the order if the step has grown some steps later: then it is held longer the
 * next time. Otherwise it was in vain, and not done again soon. */
static void judge_hold(dae_oscillation *o, double h)
{
    if (o->wait > 0) o->wait--;
    if (o->held == 0) return;
    int steps = o->hold - --o->held;
    if ((steps >= TRIAL && h < GROWN * o->h) || h < SHRUNK * o->h) {
        o->held = 0;
        o->wait = o->patience;
        o->patience = twice(o->patience);
    } else if (o->held == 0) {
        o->hold = twice(o->hold);
        o->patience = HOLD;
    }
}

void dae_oscillation_watch(const dae_solver *s, dae_oscillation *o, int k, double h, double *const phi[])
{
    const double *low = phi[k - 1], *high = phi[k + 1], *third = phi[SAFE + 1];
    double dot = 0, low_2 = 0, high_2 = 0, largest = 0;
    judge_hold(o, fabs(h));
    if (k <= SAFE) return;
    for (int i = 0; i < s->system.n; i++) {
        if (s->system.level[i] != DAE_DIFFERENTIAL) continue;
        double a = s->w[i] * low[i], b = s->w[i] * high[i];
        dot += a * b;
        low_2 += a * a;
        high_2 += b * b;
        largest = fmax(largest, fabs(s->w[i] * third[i]));
    }
    if (!(low_2 > 0 && high_2 > 0)) return;
    o->cosine += (dot / sqrt(low_2 * high_2) - o->cosine) / SPAN;
    double error = CONSTANT * largest;
    if (o->held > 0 || o->wait > 0 || o->cosine > CLEAR || error > MOST || error < LEAST) return;
    o->held = o->hold;
    o->h = fabs(h);
    o->cosine = 0;
}
