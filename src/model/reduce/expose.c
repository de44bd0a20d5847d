/* expose.c: der(y) = 0 in an initial equation, where y is no state.
 *
 * Steady state is often asked of something that other things determine: a current in turning
 * coordinates, a pressure. The equations do not contain der(y), so nothing says what it is. With an
 * equation more,
 *
 *     yd = der(y),
 *
 * it is a matter of index reduction: what determines y is differentiated. Aliases of states need
 * none of this.
 */
#include "model/reduce/expose.h"

#include "expression/walk.h"

#include <string.h>

typedef struct exposer {
    flat_model *m;
    ex_graph *g;
    uint32_t *class_of;   /* of a variable: another that is equal to it, but for the sign */
    unsigned char *order; /* of a class: the highest derivative in equations */
} exposer;

static uint32_t class_of(exposer *x, uint32_t v)
{
    while (x->class_of[v] != v) v = x->class_of[v] = x->class_of[x->class_of[v]];
    return v;
}

static bool plain_variable(exposer *x, ex_id e, uint32_t *v)
{
    const ex_node *n = ex_at(x->g, e);
    if (n->op == EX_NEGATE) n = ex_at(x->g, n->a);
    if (n->op != EX_VARIABLE || n->b != 0) return false;
    *v = n->a;
    return true;
}

static void find_classes(exposer *x)
{
    for (uint32_t v = 0; v < x->m->variables; v++) x->class_of[v] = v;
    for (size_t i = 0; i < x->m->equations; i++) {
        uint32_t a, b;
        if (plain_variable(x, x->m->equation[i].left, &a) &&
            plain_variable(x, x->m->equation[i].right, &b))
            x->class_of[class_of(x, a)] = class_of(x, b);
    }
}

static ex_walk *walk_equations(exposer *x, const flat_equation *list, size_t count)
{
    ex_id *root = dae_arena_take(x->g->arena, 2 * count + 1, sizeof *root);
    for (size_t i = 0; i < count; i++) {
        root[2 * i] = list[i].left;
        root[2 * i + 1] = list[i].right;
    }
    return ex_walk_begin(x->g, root, 2 * count);
}

static void find_orders(exposer *x)
{
    ex_walk *w = walk_equations(x, x->m->equation, x->m->equations);
    for (size_t k = 0; k < w->count; k++) {
        const ex_node *n = ex_at(x->g, w->order[k]);
        if (n->op != EX_VARIABLE || n->b == 0) continue;
        uint32_t c = class_of(x, n->a);
        if (n->b > x->order[c]) x->order[c] = (unsigned char)n->b;
    }
    ex_walk_end(x->g, w);
}

static flat_model *copy_model(const flat_model *m)
{
    dae_arena *arena = m->graph->arena;
    flat_model *to = dae_arena_take(arena, 1, sizeof *to);
    *to = *m;
    to->variable_capacity = m->variables + 8;
    to->equation_capacity = m->equations + 8;
    to->variable = dae_arena_take(arena, to->variable_capacity, sizeof *to->variable);
    to->equation = dae_arena_take(arena, to->equation_capacity, sizeof *to->equation);
    memcpy(to->variable, m->variable, m->variables * sizeof *to->variable);
    memcpy(to->equation, m->equation, m->equations * sizeof *to->equation);
    return to;
}

static void expose(exposer *x, flat_model *to, uint32_t v, uint32_t order)
{
    const char *name = to->variable[v].name;
    for (uint32_t k = 0; k < order; k++) name = dae_arena_print(x->g->arena, "der(%s)", name);
    flat_variable made = { .name = name,
                           .type = EX_REAL,
                           .variability = FLAT_CONTINUOUS,
                           .fixed = -1,
                           .hidden = true,
                           .place = to->variable[v].place };
    uint32_t new = flat_add_variable(to, &made);
    flat_add_equation(to, ex_variable(x->g, new, 0, EX_REAL), ex_variable(x->g, v, order, EX_REAL),
                      made.place, "");
}

flat_model *flat_expose_derivatives(flat_model *m)
{
    dae_arena *arena = m->graph->arena;
    exposer x = { .m = m, .g = m->graph };
    flat_model *to = m;
    if (m->initials == 0) return m;
    x.class_of = dae_arena_take(arena, m->variables + 1, sizeof *x.class_of);
    x.order = dae_arena_take(arena, m->variables + 1, 1);
    find_classes(&x);
    find_orders(&x);
    ex_walk *w = walk_equations(&x, m->initial, m->initials);
    ex_id *found = dae_arena_take(arena, w->count + 1, sizeof *found);
    size_t count = 0;
    for (size_t k = 0; k < w->count; k++)
        if (ex_at(x.g, w->order[k])->op == EX_VARIABLE) found[count++] = w->order[k];
    ex_walk_end(x.g, w);
    for (size_t k = 0; k < count; k++) {
        const ex_node n = *ex_at(x.g, found[k]);
        const flat_variable *v = &m->variable[n.a];
        uint32_t c = class_of(&x, n.a);
        bool unknown = v->type == EX_REAL && v->variability == FLAT_CONTINUOUS && !v->input;
        if (n.b <= x.order[c] || !unknown) continue;
        if (to == m) to = copy_model(m);
        expose(&x, to, n.a, n.b);
        x.order[c] = (unsigned char)n.b;
    }
    return to;
}
