/* events.c: sign changes of event functions, located on the dense output.
 *
 * After each accepted step g is looked at where the step ended; an interval with a sign change
 * is narrowed by the Illinois variant of regula falsi. An event function that is zero at the
 * start of an interval (just after its own event, or from the beginning) is disarmed until it
 * has left zero: it fires neither twice nor because of a signed zero. Of several sign changes
 * in a step the earliest is reported first, at equal times in order of definition.
 */
#include "integrate/solver.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

static dae_status evaluate(dae_solver *s, double t, double *g)
{
    const dae_problem *q = &s->system.problem;
    dae_event_search *v = &s->events;
    dae_look(s, t, v->x, v->p);
    s->stats.event_evaluations++;
    s->system.callback_depth++;
    int answer = q->event(t, v->x, v->p, g, q->user);
    s->system.callback_depth--;
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
        for (int i = 0; i < count; i++)
            inside |= v->armed[i] && crosses(v->low[i], v->middle[i]);
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

static dae_status search(dae_solver *s, double to)
{
    dae_event_search *v = &s->events;
    int count = s->system.problem.event_count, found = 0;
    if ((to - v->t_low) * s->direction <= 0) return DAE_OK;
    dae_status status = evaluate(s, to, v->high);
    if (status != DAE_OK) return status;
    for (int i = 0; i < count; i++) {
        if (!v->armed[i] && v->high[i] != 0) { /* it has left zero */
            v->armed[i] = 1;
            v->low[i] = v->high[i];
        }
        found |= v->armed[i] && crosses(v->low[i], v->high[i]);
    }
    if (!found) {
        memcpy(v->low, v->high, (size_t)count * sizeof(double));
        v->t_low = to;
        return DAE_OK;
    }
    status = narrow(s, v->t_low, to, &v->t_found);
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
