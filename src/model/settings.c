/* settings.c: what a simulation is asked for, looked at before it begins. */
#include "model/object.h"
#include "model/reduce/route.h"

#include <math.h>
#include <stdio.h>

static dae_status refuse_negative(model *m, const dae_simulation *s)
{
    const char *name = s->tolerance < 0 ? "tolerance" : s->absolute < 0 ? "absolute" : "max_step";
    dae_fail(&m->report, DAE_E_OPTION, "%s is negative", name);
    dae_hint(&m->report, "0 stands for the default");
    return DAE_E_OPTION;
}

/* Output times of the caller's: in order, none before the start. */
dae_status model_check_times(model *m, const dae_simulation *s, double start)
{
    dae_report *report = &m->report;
    if (s->tolerance < 0 || s->absolute < 0 || s->max_step < 0) return refuse_negative(m, s);
    if (s->intervals < 0 || s->time_count < 0 || (s->time_count > 0 && !s->times)) {
        dae_fail(report, DAE_E_OPTION,
                 s->intervals < 0 ? "the number of intervals is negative"
                                  : "there are no output times");
        dae_at(report, s->intervals < 0 ? "intervals = %d" : "time_count = %d",
               s->intervals < 0 ? s->intervals : s->time_count);
        return DAE_E_OPTION;
    }
    for (int k = 0; s->times && k < s->time_count; k++) {
        double before = k ? s->times[k - 1] : start;
        if (isfinite(s->times[k]) && s->times[k] >= before) continue;
        dae_fail(report, DAE_E_TIME, "output times go from the start onwards");
        dae_at(report, "times[%d] = %.10g", k, s->times[k]);
        dae_why(report, k ? "the one before it is %.10g" : "the start is %.10g", before);
        dae_hint(report, "sort them");
        return DAE_E_TIME;
    }
    return DAE_OK;
}

dae_status model_check_route(model *m, const char *route)
{
    if (flat_route_find(route) != FLAT_ROUTES) return DAE_OK;
    dae_fail(&m->report, DAE_E_OPTION, "there is no route '%.60s'", route);
    dae_at(&m->report, "route (--route)");
    dae_hint(&m->report, "dummy, projection, least-squares, direct or array");
    return DAE_E_OPTION;
}

/* A fixed start below what errors may be: nothing of it is followed. */
void model_mind_small_starts(model *m, const double *atol)
{
    char list[300] = "";
    size_t length = 0, count = 0;
    for (size_t j = 0; j < m->p.states; j++) {
        uint32_t v = m->p.variable[j];
        const model_variable *x = &m->variable[v];
        double start = fabs(m->value[slot_of(v, 2)]);
        if (x->fixed != 1 || x->nominal || !(start > 0 && start < atol[j])) continue;
        if (count++ >= 3) continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s'%.60s' = %.3g",
                                   length ? ", " : "", x->name, m->value[slot_of(v, 2)]);
    }
    if (count == 0) return;
    model_warn(m,
               "%s%s %s below the absolute tolerance: errors as large as the value are "
               "allowed; give a nominal value, or a smaller absolute tolerance (--atol)",
               list, count > 3 ? ", ..." : "", count > 1 ? "are fixed" : "is fixed");
}
