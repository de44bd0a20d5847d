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

#include <math.h>

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

/* May the derivative of this have poles or kinks that no event tells of? */
static bool is_rough(const ex_graph *g, const ex_node *n)
{
    double p;
    switch (n->op) {
    case EX_SQRT:
    case EX_LOG:
    case EX_LOG10:
    case EX_ASIN:
    case EX_ACOS:
    case EX_TAN:
    case EX_ATAN2:
    case EX_CALL:
    case EX_ABS:
    case EX_SIGN:
    case EX_MIN:
    case EX_MAX:
    case EX_TANH:
    case EX_ATAN: /* of 1e9*x: smooth, but as good as a jump */ return true;
    case EX_DIVIDE: return !ex_is_number(g, n->b, NULL);
    case EX_POWER: return !ex_is_number(g, n->b, &p) || p < 0 || p != floor(p);
    case EX_FLOOR:
    case EX_CEIL:
    case EX_MOD:
    case EX_REM:
    case EX_DIV:
    case EX_LESS:
    case EX_LESS_EQUAL: return !(n->flags & EX_EVENT);
    default: return false;
    }
}

/* Of unknowns or time; parameters do not change. */
static void find_varying(const flat_model *m, ex_walk *w)
{
    const ex_graph *g = m->graph;
    for (size_t i = 0; i < w->count; i++) {
        ex_id e = w->order[i];
        const ex_node *n = ex_at(g, e);
        bool varies = n->op == EX_TIME ||
                      (n->op == EX_VARIABLE && m->variable[n->a].variability > FLAT_PARAMETER);
        for (size_t k = 0; k < ex_operand_count(g, e) && !varies; k++)
            varies = w->image[ex_operand(g, e, k)] != 0;
        w->image[e] = varies;
    }
}

/* *angles: is there an atan2? In functions, too. */
static bool sides_are_rough(flat_model *m, ex_id left, ex_id right, bool *angles)
{
    ex_graph *g = m->graph;
    const ex_id side[] = { left, right };
    bool rough = false;
    ex_walk *w = ex_walk_begin(g, side, 2);
    find_varying(m, w);
    for (size_t i = 0; i < w->count; i++) {
        const ex_node *n = ex_at(g, w->order[i]);
        bool constant = n->op == EX_DIVIDE && !w->image[n->b];
        *angles |= w->image[w->order[i]] && (n->op == EX_ATAN2 || n->op == EX_CALL);
        rough |= w->image[w->order[i]] && !constant && is_rough(g, n);
    }
    ex_walk_end(g, w);
    return rough;
}

static void list_links(flat_reduction *r, dae_arena *arena)
{
    const flat_signature *s = &r->signature;
    flat_model *to = r->flat;
    size_t count = 0;
    for (uint32_t j = 0; j < s->columns; j++) count += s->d[j];
    to->link = dae_arena_take(arena, count + 1, sizeof *to->link);
    to->links = 0;
    to->rough = to->angles = false;
    for (uint32_t j = 0; j < s->columns; j++)
        for (uint32_t k = 1; k <= s->d[j]; k++) {
            flat_jump link = { find_derivative(r, s->variable[j], k),
                               find_derivative(r, s->variable[j], k - 1) };
            if (link.highest && link.below) to->link[to->links++] = link;
        }
    for (uint32_t i = 0; i < s->rows; i++)
        to->rough |=
            s->c[i] > 0 && sides_are_rough(r->from, s->left[i][0], s->right[i][0], &to->angles);
}

void flat_list_jumps(flat_reduction *r, dae_arena *arena)
{
    const flat_signature *s = &r->signature;
    flat_model *to = r->flat;
    to->jumps = 0;
    list_links(r, arena);
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
    case EX_POWER:
    case EX_CALL:
    case EX_RESULT:
    case EX_ELEMENT: return false;
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
