/* delay.c: delay(e, T), the value of e at t - T.
 *
 * Steps are no longer than the shortest delay, so what is asked for has been computed. A delay
 * time that varies is computed wherever the delayed value is, and may be shorter than the step: the
 * last polynomial is continued then, over a step at most; where it is near 0 steps are short
 * (simulate.c), and shorter where a stretch begins and there is no polynomial yet. A constant delay
 * so brief that steps of its length would be more than a million is treated in the same way.
 *
 * For every accepted step the values of e at five points of it are kept, and between them the
 * polynomial of degree four. Steps know nothing of what e says of time, and their order may be higher: so the
 * polynomial is compared with e at a sixth point, and where it is off by more than a part of the tolerance the step is
 * kept in halves, and these in halves (simulate.c). A step begins with
 * its own first point, so jumps at events are kept as jumps. Before the start e has its value at
 * the start. Kinks that e has at the start come back after T, 2 T, ...: simulate.c restarts there.
 */
#include "model/object.h"

#include <math.h>
#include <string.h>

dae_status model_compile_delays(model *m)
{
    ex_id *output = dae_arena_take(&m->arena, 2 * m->delays + 1, sizeof *output);
    for (size_t k = 0; k < m->delays; k++) {
        m->delay[k].varies = model_level(m, m->delay[k].time) > LEVEL_FREE;
        output[2 * k] = m->delay[k].value;
        output[2 * k + 1] = m->delay[k].time;
    }
    return unit_open(m, &m->lags, output, 2 * m->delays);
}

static dae_status check_delay(model *m, const model_delay *d, double by)
{
    if (by >= 0 && !isinf(by)) return DAE_OK;
    dae_fail(&m->report, DAE_E_MODEL, "a delay time is negative or not finite");
    dae_at(&m->report, "delay(%s, ...)", ex_print(m->g, d->value, flat_name, m->flat, 80));
    dae_why(&m->report, "it is %.10g at t = %.10g", by, m->value[0]);
    return DAE_E_MODEL;
}

/* Those that parameters determine, before anything is computed. */
dae_status model_check_delays(model *m)
{
    dae_status status = DAE_OK;
    double by;
    for (size_t k = 0; k < m->delays && status == DAE_OK; k++)
        if (model_numeric(m, m->delay[k].time, &by)) status = check_delay(m, &m->delay[k], by);
    return status;
}

static dae_status run_lags(model *m)
{
    if (unit_run(m, &m->lags) != DAE_OK)
        return unit_trouble(m, &m->lags, DAE_E_NONFINITE, "evaluating delays");
    m->shortest_delay = INFINITY;
    for (size_t k = 0; k < m->delays; k++) {
        double by = m->lags.out[2 * k + 1];
        dae_status status = check_delay(m, &m->delay[k], by);
        if (status != DAE_OK) return status;
        m->delay[k].by = by;
        m->delay[k].brief = !m->delay[k].varies && by < m->brief_delay;
        if (!m->delay[k].varies && !m->delay[k].brief)
            m->shortest_delay = fmin(m->shortest_delay, by);
    }
    return DAE_OK;
}

dae_status model_start_delays(model *m, double t)
{
    if (m->delays == 0) return DAE_OK;
    dae_status status = run_lags(m);
    for (size_t k = 0; k < m->delays && status == DAE_OK; k++) {
        model_delay *d = &m->delay[k];
        d->first = d->count = d->found = 0;
        if (!d->past) {
            d->capacity = 64;
            d->past = dae_alloc(&m->memory, d->capacity, sizeof *d->past);
            if (!d->past) return dae_fail(&m->report, DAE_E_NOMEM, "no memory for delays");
        }
        d->count = 1;
        for (int i = 0; i < DELAY_POINTS; i++) {
            d->past[0].t[i] = t;
            d->past[0].v[i] = m->lags.out[2 * k];
        }
    }
    return status;
}

static delay_step *step_at(const model_delay *d, size_t k)
{
    return &d->past[(d->first + k) % d->capacity];
}

static dae_status enlarge(model *m, model_delay *d)
{
    delay_step *more = dae_alloc(&m->memory, 2 * d->capacity, sizeof *more);
    if (!more) return dae_fail(&m->report, DAE_E_NOMEM, "no memory for delays");
    for (size_t k = 0; k < d->count; k++) more[k] = *step_at(d, k);
    dae_free(&m->memory, d->past);
    d->past = more;
    d->first = 0;
    d->capacity *= 2;
    return DAE_OK;
}

/* Room for one more step, which counts when it is whole: until then the past is continued. Those that nobody can ask
 * for any more are given up. */
dae_status model_new_delay_step(model *m)
{
    for (size_t k = 0; k < m->delays; k++) {
        model_delay *d = &m->delay[k];
        double needed = m->value[0] - 2 * d->by;
        while (!d->varies && d->count > 8 && step_at(d, 2)->t[0] < needed) {
            d->first = (d->first + 1) % d->capacity;
            d->count--;
            if (d->found > 0) d->found--;
        }
        if (d->count == d->capacity && enlarge(m, d) != DAE_OK) return DAE_E_NOMEM;
    }
    return DAE_OK;
}

dae_status model_note_delays(model *m, int point)
{
    dae_status status = run_lags(m);
    for (size_t k = 0; k < m->delays && status == DAE_OK; k++) {
        delay_step *s = step_at(&m->delay[k], m->delay[k].count);
        s->t[point] = m->value[0];
        s->v[point] = m->lags.out[2 * k];
        m->delay[k].count += point == DELAY_POINTS - 1;
    }
    return status;
}

/* Neville's scheme through the five points. */
static double interpolate(const delay_step *s, double t)
{
    double p[DELAY_POINTS];
    if (s->t[0] == s->t[DELAY_POINTS - 1]) return s->v[DELAY_POINTS - 1];
    memcpy(p, s->v, sizeof p);
    for (int k = 1; k < DELAY_POINTS; k++)
        for (int i = 0; i + k < DELAY_POINTS; i++)
            p[i] = ((t - s->t[i + k]) * p[i] - (t - s->t[i]) * p[i + 1]) / (s->t[i] - s->t[i + k]);
    return p[0];
}

dae_status model_look_at_delays(model *m)
{
    dae_status status = run_lags(m);
    for (size_t k = 0; k < m->delays && status == DAE_OK; k++) {
        m->delay[k].t_look = m->value[0];
        m->delay[k].look = m->lags.out[2 * k];
    }
    return status;
}

/* Of an error of interpolation nothing is seen by the error control: it has a part of the tolerance. */
static const double PART = 0.3;

bool model_delays_bend(model *m, double rtol, double atol)
{
    bool bends = false;
    for (size_t k = 0; k < m->delays; k++) {
        const model_delay *d = &m->delay[k];
        const delay_step *s = step_at(d, d->count - 1);
        double size = 0;
        for (int i = 0; i < DELAY_POINTS; i++) size = fmax(size, fabs(s->v[i]));
        bends |= fabs(interpolate(s, d->t_look) - d->look) > PART * (rtol * size + atol);
    }
    for (size_t k = 0; k < m->delays && bends; k++) {
        model_delay *d = &m->delay[k];
        d->count--;
        if (d->found >= d->count) d->found = d->count > 0 ? d->count - 1 : 0;
    }
    return bends;
}

/* Where two steps meet e may jump: from the right at the beginning of a stretch of smooth steps,
 * from the left at its end. */
void model_look_back(model *m, double t)
{
    bool right = t <= m->stretch_start;
    if (m->lag_times.outs > 0 && unit_run(m, &m->lag_times) == DAE_OK)
        for (size_t k = 0; k < m->delays; k++)
            if (m->lag_times.out[k] >= 0) m->delay[k].by = m->lag_times.out[k];
    for (size_t k = 0; k < m->delays; k++) {
        model_delay *d = &m->delay[k];
        double at = t - d->by, near = 1e-15 * (fabs(t) + d->by);
        double edge = right ? at + near : at - near;
        if (d->count == 0) continue;
        size_t i = d->found < d->count ? d->found : d->count - 1;
        while (i + 1 < d->count && step_at(d, i)->t[DELAY_POINTS - 1] <= edge) i++;
        while (i > 0 && step_at(d, i)->t[0] > edge) i--;
        d->found = i;
        const delay_step *s = step_at(d, i);
        m->value[slot_of(d->variable, 0)] = at <= s->t[0] ? s->v[0] : interpolate(s, at);
    }
}

dae_status model_take_delays(model *m, const model *from)
{
    if (m->delays != from->delays)
        return dae_fail(&m->report, DAE_E_UNSUPPORTED,
                        "other states would have to be taken, which have other delays");
    m->shortest_delay = from->shortest_delay;
    m->brief_delay = from->brief_delay;
    m->stretch_start = from->stretch_start;
    for (size_t k = 0; k < m->delays; k++) {
        model_delay *to = &m->delay[k];
        const model_delay *d = &from->delay[k];
        delay_step *past = dae_alloc(&m->memory, d->capacity + 1, sizeof *past);
        if (!past) return dae_fail(&m->report, DAE_E_NOMEM, "no memory for delays");
        if (d->capacity > 0) memcpy(past, d->past, d->capacity * sizeof *past);
        dae_free(&m->memory, to->past);
        to->past = past;
        to->first = d->first;
        to->count = d->count;
        to->capacity = d->capacity;
        to->found = d->found;
        to->by = d->by;
        to->brief = d->brief;
    }
    return DAE_OK;
}

void model_free_delays(model *m)
{
    for (size_t k = 0; k < m->delays; k++) dae_free(&m->memory, m->delay[k].past);
    m->delays = 0;
}
