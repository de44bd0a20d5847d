/* solve_position.c: does a run go through a position where constraints become dependent?
 *
 * Many formulations step over it without a failure, onto a branch that chance selects. The pivot of
 * the constraints (integrate/motion/motion.h) is looked at where steps end. It falls to zero, and rises again,
 * like |t - t*|: with slopes of at most L there is no zero inside a step if the pivots at its ends
 * add up to more than L h. Only if they do not (L being the steepest slope so far, twice) the inside
 * is searched. The mechanism then decides by its own means, from the point found.
 */
#include "cli/solve.h"
#include "base/float_check.h"
#include "integrate/glance.h"

#include <math.h>

/* A look that asks no equations: the search must not count as work of the method. */
static double pivot_at(solve_job *job, double t)
{
    dae_motion *k = job->p.problem.motion;
    dae_glance(job->solver, t, job->x, NULL);
    return k->pivot(k, t, job->x);
}

/* The quarter with the smallest pivot, then golden section. */
static double lowest(solve_job *job, double begin, double end)
{
    enum { PIECES = 4, PASSES = 24 };
    const double golden = 0.6180339887498949;
    double h = (end - begin) / PIECES, low = begin, least = INFINITY;
    for (int k = 1; k < PIECES; k++) {
        double now = pivot_at(job, begin + k * h);
        if (now < least) {
            least = now;
            low = begin + (k - 1) * h;
        }
    }
    double high = low + 2 * h, a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = pivot_at(job, a), at_b = pivot_at(job, b);
    for (int pass = 0; pass < PASSES; pass++)
        if (at_a <= at_b) {
            high = b, b = a, at_b = at_a;
            a = high - golden * (high - low), at_a = pivot_at(job, a);
        } else {
            low = a, a = b, at_a = at_b;
            b = low + golden * (high - low), at_b = pivot_at(job, b);
        }
    return at_a <= at_b ? a : b;
}

void solve_watch_position(solve_job *job, double before)
{
    dae_motion *k = job->p.problem.motion;
    solve_position *w = &job->position;
    if (!k || w->met) return;
    double was = w->now, h = fabs(job->t - before);
    w->now = pivot_at(job, job->t);
    if (h == 0 || !isfinite(was + w->now)) return;
    w->steepest = fmax(w->steepest, fabs(w->now - was) / h);
    if (was + w->now > 2 * w->steepest * h) return;
    double t = lowest(job, before, job->t);
    dae_glance(job->solver, t, job->x, NULL);
    w->met = k->singular(k, t, job->x, &w->at);
}
