/* events.c: sign changes of event functions, located on the dense output.
 *
 * After each accepted step g is looked at where the step ended and at PIECES - 1 points inside:
 * two sign changes between two looks are none. Where a parabola through three looks comes near
 * zero between them, g is looked at there as well (and again, with the parabola that follows from
 * it), so that a short excursion beyond zero is found if g is smooth. Where the polynomial is no picture
 * of the solution (dense.c: a slow state lets the step grow over periods of an algebraic unknown) the equations are
 * asked, and g is looked at in the middle of every gap until the neighbours foretell it. An interval with a sign
 * change is narrowed by the Illinois variant of regula falsi. An event function that is zero at the
 * start of an interval (just after its own event, or from the beginning) is disarmed until it
 * has left zero: it fires neither twice nor because of a signed zero. Of several sign changes
 * in a step the earliest is reported first, at equal times in order of definition.
 */
#include "integrate/solver.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

enum { PIECES = 4 };

/* In doubt a value that its neighbours give but for a part of itself is foretold. */
static const double FORETOLD = 0.25;

/* Where the solution cannot be read, g is not defined either: DAE_RETRY. */
static int ask(dae_solver *s, double t, int glance, double *g)
{
    const dae_problem *q = &s->system.problem;
    dae_event_search *v = &s->events;
    if (glance)
        dae_glance(s, t, v->x, v->p);
    else if ((v->reading = dae_look(s, t, v->x, v->p, 0)) != DAE_OK)
        return DAE_RETRY;
    s->stats.event_evaluations++;
    s->system.callback_depth++;
    int answer = q->event(t, v->x, v->p, g, q->user);
    s->system.callback_depth--;
    return answer;
}

static dae_status evaluate(dae_solver *s, double t, double *g)
{
    const dae_problem *q = &s->system.problem;
    int answer = ask(s, t, 0, g);
    if (s->events.reading != DAE_OK) return s->events.reading;
    if (answer == DAE_RETRY) answer = DAE_STOP;
    dae_status status = dae_user_answer(&s->system, answer, "event", t);
    if (status != DAE_OK) return status;
    int bad = dae_find_nonfinite(q->event_count, g);
    if (bad < 0) return DAE_OK;
    dae_fail(&s->report, DAE_E_NONFINITE, "an event function is %s",
             isnan(g[bad]) ? "NaN" : "infinite");
    if (q->event_names && q->event_names[bad])
        dae_at(&s->report, "t = %.10g, event '%s'", t, q->event_names[bad]);
    else
        dae_at(&s->report, "t = %.10g, event %d", t, bad + 1);
    dae_hint(&s->report, "an event function must be finite wherever the solution goes");
    return DAE_E_NONFINITE;
}

dae_status dae_events_start(dae_solver *s)
{
    dae_event_search *v = &s->events;
    int count = s->system.problem.event_count;
    v->pending = 0;
    v->event = -1;
    v->t_low = s->t;
    if (count == 0) return DAE_OK;
    dae_status status = evaluate(s, s->t, v->low);
    for (int i = 0; i < count; i++) v->armed[i] = v->low[i] != 0;
    return status;
}

static int crosses(double a, double b)
{
    return (a < 0 && b >= 0) || (a > 0 && b <= 0);
}

/* Narrows (a, b) around the earliest crossing of any armed event; low and high hold g there. */
static dae_status narrow(dae_solver *s, double a, double b, double *at)
{
    dae_event_search *v = &s->events;
    int count = s->system.problem.event_count, side = 0;
    double resolution = 100 * DBL_EPSILON * (fabs(a) + fabs(b)) + 1e-300, weight = 1;
    for (int round = 0; round < 100 && fabs(b - a) > resolution; round++) {
        double fraction = 0.5, farthest = -1;
        for (int i = 0; i < count; i++) { /* the crossing nearest to a by linear interpolation */
            if (!v->armed[i] || !crosses(v->low[i], v->high[i])) continue;
            double f = v->low[i] / (v->low[i] - weight * v->high[i]);
            if (farthest < 0 || f < farthest) farthest = f;
        }
        if (farthest >= 0) fraction = fmin(fmax(farthest, 0.01), 0.99);
        if (round % 3 == 2) fraction = 0.5;
        double t = a + fraction * (b - a);
        dae_status status = evaluate(s, t, v->middle);
        if (status != DAE_OK) return status;
        int inside = 0;
        for (int i = 0; i < count; i++) inside |= v->armed[i] && crosses(v->low[i], v->middle[i]);
        double *keep = inside ? v->high : v->low;
        memcpy(keep, v->middle, (size_t)count * sizeof(double));
        if (inside)
            b = t;
        else
            a = t;
        weight = side == (inside ? 1 : -1) ? 0.5 * weight : 1; /* Illinois */
        side = inside ? 1 : -1;
    }
    *at = b;
    return DAE_OK;
}

/* ---- looks ---- */

static void take_look(dae_solver *s, double t, double *g, int rough)
{
    dae_event_search *v = &s->events;
    int at = v->looks++;
    for (; at > 0 && (v->look[at - 1].t - t) * s->direction > 0; at--)
        v->look[at] = v->look[at - 1];
    v->look[at] = (dae_event_look){ .t = t, .g = g, .rough = rough };
}

/* One more look inside a step; where g is not defined there it is no look. */
static dae_status look_inside(dae_solver *s, double t, int *seen)
{
    double *g = s->events.look[s->events.looks].g;
    int rough = !dae_is_unresolved(s, t), answer = ask(s, t, rough, g);
    *seen = answer == DAE_OK && dae_find_nonfinite(s->system.problem.event_count, g) < 0;
    if (answer != DAE_OK && answer != DAE_RETRY)
        return dae_user_answer(&s->system, answer, "event", t);
    if (*seen) take_look(s, t, g, rough);
    return DAE_OK;
}

/* Does the parabola through three values of one sign come near zero between them, and where? */
static int dips(const dae_event_look *a, int i, double *at)
{
    const dae_event_look *b = a + 1, *c = a + 2;
    double g0 = a->g[i], g1 = b->g[i], g2 = c->g[i];
    if (!(g0 * g1 > 0 && g1 * g2 > 0)) return 0;
    double rise = (g1 - g0) / (b->t - a->t), next = (g2 - g1) / (c->t - b->t);
    double bend = (next - rise) / (c->t - a->t); /* g'' / 2 */
    if (!(bend * g1 > 0)) return 0;
    double t = 0.5 * (a->t + b->t) - 0.5 * rise / bend;
    double g = g0 + (t - a->t) * (rise + (t - b->t) * bend);
    *at = t;
    return (t - a->t) * (c->t - t) > 0 && t != b->t && g / g1 < 0.5 && g / g0 < 0.5 && g / g2 < 0.5;
}

static int find_dip(const dae_solver *s, double *at)
{
    const dae_event_search *v = &s->events;
    for (int i = 0; i < s->system.problem.event_count; i++)
        for (int k = 0; k + 2 < v->looks && v->armed[i]; k++)
            if (dips(&v->look[k], i, at)) return 1;
    return 0;
}

/* The parabola through three looks in a row, of event i at t. */
static double foretell(const dae_event_look *a, int i, double t)
{
    const dae_event_look *b = a + 1, *c = a + 2;
    double rise = (b->g[i] - a->g[i]) / (b->t - a->t), next = (c->g[i] - b->g[i]) / (c->t - b->t);
    return a->g[i] + (t - a->t) * (rise + (t - b->t) * (next - rise) / (c->t - a->t));
}

/* Do the neighbours of the gap after look k foretell what was seen in it, in `seen`? */
static int is_foretold(const dae_solver *s, int k, double t, const double *seen)
{
    const dae_event_search *v = &s->events;
    const dae_event_look *a = &v->look[k > 0 && k + 2 >= v->looks ? k - 1 : k];
    for (int i = 0; i < s->system.problem.event_count; i++) {
        double least = fmin(fabs(seen[i]), fmin(fabs(v->look[k].g[i]), fabs(v->look[k + 1].g[i])));
        if (v->armed[i] && fabs(foretell(a, i, t) - seen[i]) > FORETOLD * least) return 0;
    }
    return 1;
}

/* One more look in the first gap that is not settled; 0: there is none, or no room. */
static int look_closer(dae_solver *s, dae_status *status)
{
    dae_event_search *v = &s->events;
    for (int k = 0; k + 1 < v->looks && v->looks > 2 && v->looks < DAE_EVENT_LOOKS; k++) {
        dae_event_look *from = &v->look[k];
        double t = 0.5 * (from->t + from[1].t), *g = v->look[v->looks].g;
        if (from->settled) continue;
        int answer = ask(s, t, 0, g);
        int seen = answer == DAE_OK && dae_find_nonfinite(s->system.problem.event_count, g) < 0;
        if (answer != DAE_OK && answer != DAE_RETRY)
            *status = dae_user_answer(&s->system, answer, "event", t);
        from->settled = !seen || is_foretold(s, k, t, g);
        int settled = from->settled;
        if (seen) take_look(s, t, g, 0);
        v->look[k + seen].settled = settled;
        return *status == DAE_OK;
    }
    return 0;
}

static dae_status look_around(dae_solver *s, double to)
{
    dae_event_search *v = &s->events;
    double from = v->t_low, t;
    int count = s->system.problem.event_count, seen = 1;
    for (int k = 0; k < DAE_EVENT_LOOKS; k++) v->look[k].g = v->look_g + (size_t)k * (size_t)count;
    memcpy(v->look[0].g, v->low, (size_t)count * sizeof(double));
    v->look[0] = (dae_event_look){ .t = from, .g = v->look[0].g };
    v->looks = 1;
    dae_status status = evaluate(s, to, v->look[1].g);
    if (status == DAE_OK) take_look(s, to, v->look[1].g, 0);
    for (int k = 1; k < PIECES && status == DAE_OK; k++)
        status = look_inside(s, from + (to - from) * k / PIECES, &seen);
    while (status == DAE_OK && seen && v->looks < DAE_EVENT_LOOKS && find_dip(s, &t))
        status = look_inside(s, t, &seen);
    if (status == DAE_OK && dae_is_unresolved(s, 0.5 * (from + to)))
        while (look_closer(s, &status)) continue;
    return status;
}

static int crossed(const dae_solver *s)
{
    const dae_event_search *v = &s->events;
    int found = 0;
    for (int i = 0; i < s->system.problem.event_count; i++)
        found |= v->armed[i] && crosses(v->low[i], v->high[i]);
    return found;
}

/* From the last look to this one. */
static dae_status search_piece(dae_solver *s, const dae_event_look *to)
{
    dae_event_search *v = &s->events;
    int count = s->system.problem.event_count;
    memcpy(v->high, to->g, (size_t)count * sizeof(double));
    if (to->rough && crossed(s)) { /* is it so? */
        dae_status status = evaluate(s, to->t, v->high);
        if (status != DAE_OK) return status;
    }
    for (int i = 0; i < count; i++)
        if (!v->armed[i] && v->high[i] != 0) { /* it has left zero */
            v->armed[i] = 1;
            v->low[i] = v->high[i];
        }
    if (!crossed(s)) {
        memcpy(v->low, v->high, (size_t)count * sizeof(double));
        v->t_low = to->t;
        return DAE_OK;
    }
    dae_status status = narrow(s, v->t_low, to->t, &v->t_found);
    if (status != DAE_OK) return status;
    v->event = -1;
    for (int i = 0; i < count; i++) {
        if (!v->armed[i] || !crosses(v->low[i], v->high[i])) continue;
        if (v->event < 0) {
            v->event = i;
            v->direction = v->low[i] < 0 ? 1 : -1;
            /* fired: beyond its own crossing it starts afresh */
            v->armed[i] = v->high[i] != 0;
            v->low[i] = v->high[i];
        }
    }
    v->t_low = v->t_found;
    for (int i = 0; i < count; i++) /* others that cross at the same time fire next */
        if (i != v->event && !crosses(v->low[i], v->high[i])) v->low[i] = v->high[i];
    return DAE_EVENT;
}

static dae_status search(dae_solver *s, double to)
{
    dae_event_search *v = &s->events;
    if ((to - v->t_low) * s->direction <= 0) return DAE_OK;
    dae_status status = look_around(s, to);
    for (int k = 1; k < v->looks && status == DAE_OK; k++) status = search_piece(s, &v->look[k]);
    return status;
}

dae_status dae_events_search(dae_solver *s, double target)
{
    dae_event_search *v = &s->events;
    int count = s->system.problem.event_count;
    if (count == 0) return DAE_OK;
    /* crossings at the very time of the last event, in order of definition */
    for (int i = 0; i < count && v->pending; i++)
        if (v->armed[i] && crosses(v->low[i], v->high[i])) {
            v->event = i;
            v->direction = v->low[i] < 0 ? 1 : -1;
            v->armed[i] = v->high[i] != 0;
            v->low[i] = v->high[i];
            return DAE_EVENT;
        }
    v->pending = 0;
    double to = (target - s->t) * s->direction < 0 ? target : s->t;
    dae_status status = search(s, to);
    v->pending = status == DAE_EVENT;
    return status;
}
