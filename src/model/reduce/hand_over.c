/* hand_over.c: values of a model read and put from outside, aliases followed: how one model of the
 * same variables takes over from another (family.c). */
#include "model/object.h"

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
