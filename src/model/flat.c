/* flat.c: variables and equations added, and found. */
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
    m->equation[m->equations++] =
        (flat_equation){ .left = left, .right = right, .place = place, .component = component };
}

const char *flat_name(uint32_t variable, void *model)
{
    const flat_model *m = model;
    return variable < m->variables ? m->variable[variable].name : "?";
}

static bool is_leaf(const ex_node *n, uint32_t order)
{
    return n->op == EX_VARIABLE && n->b == order;
}

uint32_t flat_rate_of(const flat_model *m, uint32_t v)
{
    for (size_t i = 0; i < m->equations; i++) {
        const ex_node *a = ex_at(m->graph, m->equation[i].left);
        const ex_node *b = ex_at(m->graph, m->equation[i].right);
        if (is_leaf(a, 1) && a->a == v && is_leaf(b, 0)) return b->a;
        if (is_leaf(b, 1) && b->a == v && is_leaf(a, 0)) return a->a;
    }
    return EX_NOWHERE;
}
