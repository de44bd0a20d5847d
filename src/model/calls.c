/* calls.c: calls from outside that may fail for want of memory; the pieces of a simulation one by
 * one: initial values, variables at a point, the other side of an event. */
#include "model/object.h"
#include "model/reduce/family.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- guarded calls --------- */

/* Words of failures are made in the graph's arena, which jumps when memory runs out. */
dae_status model_guard(model *m, model_guarded call, void *arguments)
{
    jmp_buf *outer = m->g->arena->escape;
    dae_status status;
    dae_report_clear(&m->report);
    m->g->arena->escape = &m->escape;
    m->endless = (ex_trouble){ 0 };
    int refused = setjmp(m->escape);
    if (refused == 0)
        status = model_blame_endless(m, call(m, arguments));
    else
        status = dae_fail(&m->report, (dae_status)refused, "no memory for a message");
    m->g->arena->escape = outer;
    if (m->solver) {
        dae_statistics last;
        dae_get_statistics(m->solver, &last);
        m->statistics = m->earlier;
        family_sum_statistics(&m->statistics, &last);
        const char *method = m->statistics.method;
        snprintf(m->method, sizeof m->method, "%s", method ? method : "");
        m->statistics.method = m->method; /* the solver's own copy goes with it */
    }
    dae_close(m->solver);
    dae_free(&m->memory, m->run_vectors);
    dae_free(&m->memory, m->run_breaks);
    m->solver = NULL;
    m->run_vectors = NULL;
    m->run_breaks = NULL;
    return model_done(m, status);
}

dae_status model_check_ready(model *m)
{
    if (!m->built) {
        dae_fail(&m->report, DAE_E_STATE, "the model could not be built: see its messages");
        return DAE_E_STATE;
    }
    if (!m->hybrid) return DAE_OK;
    model_refuse_hybrid(m);
    dae_hint(&m->report, "if-expressions cause events and are simulated; when, pre, edge, change, "
                         "sample and reinit are not");
    return DAE_E_UNSUPPORTED;
}

static dae_status check(model *m, void *arguments)
{
    (void)arguments;
    dae_status status = model_check_ready(m);
    return status == DAE_OK ? model_check_start(m) : status;
}

dae_status model_check(model *m)
{
    model_forget_failure(m);
    return model_guard(m, check, NULL);
}

/* ---------------------------------------------------------------- the pieces ------------ */

typedef struct point {
    double t, *x, *xdot, *value;
    const double *from_x, *from_xdot;
} point;

static dae_status initialize(model *m, void *arguments)
{
    const point *p = arguments;
    dae_status status = model_check_ready(m);
    if (status == DAE_OK) status = model_find_start(m, p->t);
    if (status != DAE_OK) return status;
    model_take_point(m, p->x, p->xdot);
    m->at_start = true;
    status = model_check_assertions(m, p->t);
    m->at_start = false;
    return status;
}

dae_status model_initialize(model *m, double t0, double *x, double *xdot)
{
    model_forget_failure(m);
    return model_guard(m, initialize, &(point){ .t = t0, .x = x, .xdot = xdot });
}

static dae_status describe(model *m, void *arguments)
{
    (void)arguments;
    return m->built ? model_describe_initial(m) : DAE_E_STATE;
}

dae_status model_get_initial(model *m, dae_initial *out)
{
    dae_status before = m->status, status = model_guard(m, describe, NULL);
    m->status = before;
    *out = (dae_initial){ .value = m->initial_value,
                          .values = m->initial_values,
                          .constraint = m->initial_constraint,
                          .constraints = m->initial_constraints,
                          .conflict = m->conflict,
                          .conflicts = m->conflicts,
                          .iterations = m->init.iterations,
                          .evaluations = m->init.evaluations,
                          .by = m->initial_by ? m->initial_by : "",
                          .t = m->value[0] };
    return status;
}

static dae_status values(model *m, void *arguments)
{
    const point *p = arguments;
    dae_status status = model_check_ready(m);
    if (status != DAE_OK) return status;
    if (model_load_point(m, p->t, p->from_x, p->from_xdot) != DAE_OK)
        return unit_trouble(m, &m->p.values, DAE_E_NONFINITE, "computing variables");
    model_fill_row(m);
    memcpy(p->value, m->row, m->results * sizeof *m->row);
    return DAE_OK;
}

dae_status model_values(model *m, double t, const double *x, const double *xdot, double *value)
{
    point at = { .t = t, .from_x = x, .from_xdot = xdot, .value = value };
    return model_guard(m, values, &at);
}

static dae_status event(model *m, void *arguments)
{
    const point *p = arguments;
    dae_status status = model_check_ready(m);
    if (status != DAE_OK) return status;
    if (model_load_point(m, p->t, p->x, p->xdot) != DAE_OK)
        return unit_trouble(m, &m->p.values, DAE_E_NONFINITE, "computing variables");
    status = model_find_again(m, p->t);
    if (status == DAE_OK) model_take_point(m, p->x, p->xdot);
    return status;
}

dae_status model_event(model *m, double t, double *x, double *xdot)
{
    model_forget_failure(m);
    return model_guard(m, event, &(point){ .t = t, .x = x, .xdot = xdot });
}

dae_status model_get_statistics(const model *m, dae_statistics *out)
{
    *out = m->statistics;
    return DAE_OK;
}
