/* oscillation.c: modes near the imaginary axis that multistep formulas of order 3 and up feed.
 *
 * Along exp(i w t) the difference k + 1 is -(2 sin(wh/2))^2 times the difference k - 1, along
 * exp(-a t) it is a positive multiple. So the cosine of the angle between the two, in the metric of
 * the tolerances and over differential unknowns only, says which of them the solution is made of: -1
 * oscillation, +1 relaxation. It is as good as free.
 *
 * BDF of order 3 and up amplifies part of the imaginary axis, and MEBDF of order 5 and up does. There
 * a mode of no importance grows from rounding until the error test sees it, and from then on keeps
 * the step where it is neither amplified nor damped: thousands of steps for a motion that order 2 follows
 * in dozens. Order 2 damps it, by (wh)^4 / 4 in a step.
 *
 * What tells such a mode from an oscillation that is wanted is its amplitude: that of A tolerances has an error
 * of A (wh)^3 / 4.5 at order 2 and of A (wh)^6 / 14 at order 5. Where A is small order 2 takes hardly
 * shorter steps; where the step would pass the error test at order 2 as well, A does not matter.
 *
 * **A trial.** With steps as long as order 2 allows, A falls like dA/dn = -A (wh)^4 / 4 = -0.7 A^(-1/3), to nothing in
 * about A^(4/3) steps. After twice as many the error at order 2 over h^3, which is A w^3 for one mode, is
 * less than 0.4 of what it was, or the step has grown: then it is worth going on. (What only fades as a front flattens does so more slowly.) Otherwise something keeps the oscillation
 * alive, or it was accuracy that limited the step, and the order is free again.
 */
#include "integrate/multistep/oscillation.h"

#include <math.h>

/* Means over SPAN steps; a trial of TRIAL steps at least; held for HOLD steps, the next time for twice as many. */
enum { SPAN = 20, TRIAL = 100, HOLD = 100, LONGEST = 10000, SAFE = 2 };
/* The cosine is below the first where order 2 costs nothing, below the second where it takes shorter steps. */
static const double CLEAR = -0.4, CLEARER = -0.5;
/* Errors at order 2: below the first nothing limits the step yet, above the second order 2 takes shorter steps. */
static const double LEAST = 0.05, MOST = 1;
/* Amplitudes, in tolerances, that are taken for nothing wanted. */
static const double AMPLITUDE = 100;
/* It helps if the step grows, or the mode becomes less; it was in vain at once if the step shrinks by more than an
 * amplitude that is small can make it. */
static const double GROWN = 1.1, FADED = 0.4, SHRUNK = 0.3;

/* The error of BDF2 is so much of the third difference. */
static const double CONSTANT = 2.0 / 9;

static int twice(int steps)
{
    return steps < LONGEST / 2 ? 2 * steps : LONGEST;
}

void dae_oscillation_start(dae_oscillation *o)
{
    *o = (dae_oscillation){ .hold = HOLD, .patience = HOLD };
}

int dae_oscillation_order(const dae_oscillation *o, int most)
{
    return o->held > 0 && most > SAFE ? SAFE : most;
}

static void begin_trial(dae_oscillation *o)
{
    o->since = 0;
    o->third_before = o->third;
}

/* As long as the mode fades the order is held. It was right if the step has grown at the end: then it is held longer
 * the next time. Otherwise it was in vain, and not done again soon. */
static void judge_hold(dae_oscillation *o, double h)
{
    if (o->wait > 0) o->wait--;
    if (o->held == 0) return;
    o->held--;
    int due = ++o->since == o->trial, grown = h >= GROWN * o->h,
        fading = due && o->third < FADED * o->third_before;
    if (fading && !grown) {
        o->held += o->trial;
        begin_trial(o);
    }
    int ends = o->held == 0 || due;
    if ((ends && !grown && !fading) || h < SHRUNK * o->h) {
        o->held = 0;
        o->wait = o->patience;
        o->patience = twice(o->patience);
    } else if (o->held == 0) {
        o->hold = twice(o->hold);
        o->patience = HOLD;
    }
}

/* The amplitude of a mode whose error at order 2 this is. Differences k - 1 and k + 1 are apart by (2 sin(wh/2))^2, the
 * third one is this to the power 3/2 of the mode. Means, since each of them passes 0 twice in a period. */
static double amplitude(const dae_oscillation *o, double error)
{
    return error / CONSTANT / pow(o->high / o->low, 1.5);
}

void dae_oscillation_watch(const dae_solver *s, dae_oscillation *o, int k, double h,
                           double *const phi[])
{
    const double *low = phi[k - 1], *high = phi[k + 1], *third = phi[SAFE + 1];
    double dot = 0, low_2 = 0, high_2 = 0, largest = 0;
    for (int i = 0; i < s->system.n; i++) {
        if (s->system.level[i] != DAE_DIFFERENTIAL) continue;
        double a = s->w[i] * low[i], b = s->w[i] * high[i];
        dot += a * b;
        low_2 += a * a;
        high_2 += b * b;
        largest = fmax(largest, fabs(s->w[i] * third[i]));
    }
    double error = CONSTANT * largest;
    o->third += (error / fabs(h * h * h) - o->third) / SPAN;
    judge_hold(o, fabs(h));
    if (k <= SAFE || !(low_2 > 0 && high_2 > 0)) return;
    o->low += (sqrt(low_2) - o->low) / SPAN;
    o->high += (sqrt(high_2) - o->high) / SPAN;
    o->cosine += (dot / sqrt(low_2 * high_2) - o->cosine) / SPAN;
    error = fmax(error, o->third * fabs(h * h * h)); /* one that passes 0 is not small */
    if (o->held > 0 || o->wait > 0 || error < LEAST || o->cosine > (error > MOST ? CLEARER : CLEAR))
        return;
    double A = amplitude(o, error);
    if (A > AMPLITUDE) return;
    o->trial = (int)fmax(TRIAL, 2 * pow(A, 4.0 / 3));
    o->held = o->hold > o->trial ? o->hold : o->trial + HOLD;
    o->h = fabs(h);
    o->cosine = 0;
    begin_trial(o);
}
