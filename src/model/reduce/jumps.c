/* jumps.c: what may jump where an equation that was differentiated changes its form.
 *
 * Of F_i, differentiated c_i times, and x_j, which occurs up to its d_j-th derivative, the highest
 * derivatives may be impulses where relations change: x_j^(d_j - 1) jumps then (impulse.c). Here
 * these derivatives are found in the reduced model.
 *
 * max, min, abs, sign and what stands in noEvent cause no events as a rule. But in equations that
 * are differentiated their derivatives jump, and what follows from a jump follows at a definite
 * time: there they do. (An if of noEvent whose branches are not defined everywhere is left alone:
 * it may guard them.)
 */
#include "model/reduce/reduce.h"

#include "expression/walk.h"
#include "index/structure.h"

/* The derivative of this order in the reduced model; 0: it does not occur there. */
static ex_id find_derivative(const flat_reduction *r, uint32_t v, uint32_t order)
{
    ex_graph *g = r->flat->graph;
    uint32_t below = DAE_NOWHERE;
    if (order == 0) return ex_variable(g, v, 0, EX_REAL);
    for (size_t k = r->dummy_of[v]; k > 0 && k <= r->dummies && r->dummy[k - 1].variable == v;
         k++) {
        if (r->dummy[k - 1].order == order)
            return ex_variable(g, r->dummy[k - 1].stand_in, 0, EX_REAL);
        if (r->dummy[k - 1].order + 1 == order) below = r->dummy[k - 1].stand_in;
    }
    if (order == 1) return ex_variable(g, v, 1, EX_REAL);
    return below != DAE_NOWHERE ? ex_variable(g, below, 1, EX_REAL) : 0;
}

void flat_list_jumps(flat_reduction *r, dae_arena *arena)
{
    const flat_signature *s = &r->signature;
    flat_model *to = r->flat;
    to->jumps = 0;
    to->jump = dae_arena_take(arena, s->columns + 1, sizeof *to->jump);
    for (uint32_t j = 0; j < s->columns; j++) {
        uint32_t v = s->variable[j], d = s->d[j];
        flat_jump k = { find_derivative(r, v, d), d > 0 ? find_derivative(r, v, d - 1) : 0 };
        if (!k.highest || (d > 0 && !k.below)) { /* nothing can be said of impulses then */
            to->jumps = 0;
            return;
        }
        to->jump[to->jumps++] = k;
    }
}

/* ---------------------------------------------------------------- kinks ----------------- */

static bool is_total(const ex_node *n)
{
    switch (n->op) {
    case EX_SQRT:
    case EX_LOG:
    case EX_LOG10:
    case EX_ASIN:
    case EX_ACOS:
    case EX_TAN:
    case EX_DIVIDE:
    case EX_POWER: case EX_CALL: case EX_RESULT: case EX_ELEMENT:
        return false;
    default: return true;
    }
}

static bool is_kink(const ex_node *n)
{
    return n->op == EX_ABS || n->op == EX_SIGN || n->op == EX_MIN || n->op == EX_MAX;
}

static bool is_relation(const ex_node *n)
{
    return n->op == EX_LESS || n->op == EX_LESS_EQUAL;
}

/* The same with relations that cause events. */
static ex_id hold(ex_graph *g, const ex_node *n)
{
    ex_id zero = ex_number(g, 0), one = ex_number(g, 1);
    bool single = n->op == EX_ABS || n->op == EX_SIGN;
    ex_id less = ex_binary_flagged(g, EX_LESS, n->a, single ? zero : n->b, EX_EVENT);
    switch (n->op) {
    case EX_ABS: return ex_if(g, less, ex_unary(g, EX_NEGATE, n->a), n->a);
    case EX_SIGN: return ex_if(g, less, ex_unary(g, EX_NEGATE, one), one);
    case EX_MIN: return ex_if(g, less, n->a, n->b);
    default: return ex_if(g, less, n->b, n->a);
    }
}

void flat_hold_kinks(const flat_model *m, ex_id *side, size_t sides)
{
    ex_graph *g = m->graph;
    flat_open_roots(m, side, sides);
    bool total = true, any = false;
    ex_walk *w = ex_walk_begin(g, side, sides);
    for (size_t i = 0; i < w->count; i++) {
        const ex_node *n = ex_at(g, w->order[i]);
        total &= is_total(n);
        any |= !(n->flags & EX_EVENT) && (is_kink(n) || is_relation(n));
    }
    for (size_t i = 0; i < w->count && any; i++) {
        ex_id e = w->order[i], made = ex_walk_rebuild(g, w, e);
        const ex_node n = *ex_at(g, made);
        if (is_kink(&n) && (n.op == EX_SIGN ? ex_at(g, n.a)->type : n.type) == EX_REAL)
            made = hold(g, &n);
        else if (total && is_relation(&n))
            made = ex_binary_flagged(g, (ex_op)n.op, n.a, n.b, n.flags | EX_EVENT);
        else if (total && n.op == EX_NO_EVENT)
            made = n.a;
        w->image[e] = made;
    }
    for (size_t k = 0; k < sides && any; k++) side[k] = w->image[side[k]];
    ex_walk_end(g, w);
}
