/* hand_over.c: values of a model read and put from outside, aliases followed: how one model of the
 * same variables takes over from another (family.c). */
#include "model/object.h"

#include <string.h>

static uint32_t home_of(const model *m, uint32_t v, double *sign)
{
    *sign = 1;
    while (m->variable[v].alias_of != NOWHERE) {
        *sign *= m->variable[v].alias_sign;
        v = m->variable[v].alias_of;
    }
    return v;
}

bool model_has_events(const model *m)
{
    return m->modes_used > 0 || m->delays > 0;
}

size_t model_unknowns(const model *m, const uint32_t **variable)
{
    *variable = m->p.variable;
    return (size_t)m->p.problem.size;
}

double model_peek(const model *m, uint32_t variable, uint32_t order)
{
    double sign;
    uint32_t v = home_of(m, variable, &sign);
    return sign * m->value[slot_of(v, order)];
}

bool model_has_rate(const model *m, uint32_t variable)
{
    double sign;
    const model_variable *x = &m->variable[home_of(m, variable, &sign)];
    return x->differentiated || x->alias_value;
}

double model_peek_sound(const model *m, uint32_t variable)
{
    double sign;
    uint32_t v = home_of(m, variable, &sign);
    return sign * m->guard_value[slot_of(v, 0)];
}

void model_poke_rate(model *m, uint32_t variable, double value)
{
    double sign;
    uint32_t v = home_of(m, variable, &sign);
    if (!m->variable[v].alias_value) m->value[slot_of(v, 1)] = sign * value;
}

void model_poke(model *m, uint32_t variable, double value)
{
    double sign;
    uint32_t v = home_of(m, variable, &sign);
    if (!m->variable[v].alias_value) m->value[slot_of(v, 0)] = sign * value;
}

bool model_read_watch(model *m, double *out)
{
    if (m->flat->watches == 0 || unit_run(m, &m->watched) != DAE_OK) return false;
    memcpy(out, m->watched.out, m->flat->watches * sizeof *out);
    return true;
}

void model_take_relations(model *m, const model *from, double t)
{
    bool changed;
    m->value[0] = t;
    model_update_modes(m, true, &changed); /* where it cannot be told the equations say so */
    dae_report_clear(&m->report);
    for (size_t k = 0; k < m->modes; k++)
        for (size_t i = 0; i < from->modes; i++)
            if (from->mode[i].origin == m->mode[k].origin &&
                from->mode[i].kind == m->mode[k].kind && from->mode[i].used)
                m->value[slot_of(m->mode[k].variable, 0)] =
                    from->value[slot_of(from->mode[i].variable, 0)];
}

bool model_leaves(const model *m, model_stage *s, double t, int output)
{
    for (size_t k = 0; k < s->switches && !s->left; k++)
        s->left = (model_peek(m, s->watch[k], 0) != 0) != s->holds[k];
    if (!s->left) return false;
    s->t = t;
    s->output = output;
    s->h = 0;
    s->order = 1;
    return s->paused = true;
}
