/* flat.c: variables and equations added. */
#include "model/flat.h"

uint32_t flat_add_variable(flat_model *m, const flat_variable *v)
{
    m->variable = dae_arena_grow(m->graph->arena, m->variable, m->variables, &m->variable_capacity,
                                 sizeof *m->variable);
    m->variable[m->variables] = *v;
    return (uint32_t)m->variables++;
}

void flat_add_equation(flat_model *m, ex_id left, ex_id right, dae_place place,
                       const char *component)
{
    m->equation = dae_arena_grow(m->graph->arena, m->equation, m->equations, &m->equation_capacity,
                                 sizeof *m->equation);
    m->equation[m->equations++] = (flat_equation){ .left = left, .right = right, .place = place,
                                                   .component = component };
}

const char *flat_name(uint32_t variable, void *model)
{
    const flat_model *m = model;
    return variable < m->variables ? m->variable[variable].name : "?";
}
