/* solve.c: an equation solved for one of its unknowns, where that cannot fail.
 *
 * One pass backwards over left - right gives d/du for every leaf u: the derivative through sums
 * and products, "not linear" through anything else. The equation is a u + b = 0 if a does not
 * contain u, and it is solved as u = -b / a only if a can never be zero: a number, a parameter
 * expression that is not zero now (noted, see model_assume), or something whose sign is plain,
 * as exp(x) or 1 + x^2.
 */
#include "model/object.h"

#include "expression/walk.h"

#include <math.h>
#include <stdlib.h>

static const ex_id NOT_LINEAR = UINT32_MAX;

static void add_to(ex_graph *g, ex_walk *w, ex_id e, ex_id amount)
{
    ex_id *sum = &w->image[e];
    if (*sum == NOT_LINEAR || amount == NOT_LINEAR)
        *sum = NOT_LINEAR;
    else
        *sum = *sum ? ex_binary(g, EX_ADD, *sum, amount) : amount;
}

static void spread(ex_graph *g, ex_walk *w, ex_id e, ex_id by)
{
    const ex_node n = *ex_at(g, e);
    bool linear = by != NOT_LINEAR;
    if (linear && n.op == EX_ADD) {
        add_to(g, w, n.a, by);
        add_to(g, w, n.b, by);
    } else if (linear && n.op == EX_SUBTRACT) {
        add_to(g, w, n.a, by);
        add_to(g, w, n.b, ex_unary(g, EX_NEGATE, by));
    } else if (linear && n.op == EX_NEGATE) {
        add_to(g, w, n.a, ex_unary(g, EX_NEGATE, by));
    } else if (linear && n.op == EX_MULTIPLY && n.a != n.b) {
        add_to(g, w, n.a, ex_binary(g, EX_MULTIPLY, by, n.b));
        add_to(g, w, n.b, ex_binary(g, EX_MULTIPLY, by, n.a));
    } else if (linear && n.op == EX_DIVIDE) {
        add_to(g, w, n.a, ex_binary(g, EX_DIVIDE, by, n.b));
        add_to(g, w, n.b, NOT_LINEAR);
    } else {
        for (size_t k = 0, count = ex_operand_count(g, e); k < count; k++)
            if (ex_operand(g, e, k)) add_to(g, w, ex_operand(g, e, k), NOT_LINEAR);
    }
}

size_t model_coefficients(model *m, const model_equation *e, model_coefficient **list)
{
    ex_graph *g = m->g;
    size_t count = 0;
    const ex_id root[] = { e->left, e->right };
    ex_walk *w = ex_walk_begin(g, root, 2);
    bool real = ex_at(g, e->left)->type != EX_BOOLEAN;
    *list = dae_arena_take(&m->arena, w->count, sizeof **list);
    for (size_t i = 0; i < w->count; i++) w->image[w->order[i]] = 0;
    add_to(g, w, e->left, real ? ex_number(g, 1) : NOT_LINEAR);
    add_to(g, w, e->right, real ? ex_number(g, -1) : NOT_LINEAR);
    for (size_t i = w->count; i-- > 0;) {
        ex_id node = w->order[i], by = w->image[node];
        uint32_t slot = leaf_slot(g, node);
        if (slot != NOWHERE)
            (*list)[count++] = (model_coefficient){ slot, by == NOT_LINEAR ? 0 : by };
        else
            spread(g, w, node, by);
    }
    ex_walk_end(g, w);
    return count;
}

/* ---------------------------------------------------------------- signs ----------------- */

/* 2: > 0, 1: >= 0, -1: <= 0, -2: < 0, 0: not known */
static int sign_of_number(double value)
{
    return value > 0 ? 2 : value < 0 ? -2 : 0;
}

static int sign_of_product(int a, int b)
{
    if (a == 0 || b == 0) return 0;
    int sign = (a > 0) == (b > 0) ? 1 : -1;
    return abs(a) == 2 && abs(b) == 2 ? 2 * sign : sign;
}

static int sign_of(model *m, ex_id e, int depth)
{
    double value;
    const ex_node n = *ex_at(m->g, e);
    if (depth > 30) return 0;
    if (model_numeric(m, e, &value)) return isfinite(value) ? sign_of_number(value) : 0;
    switch (n.op) {
    case EX_EXP:
    case EX_COSH: return 2;
    case EX_ABS:
    case EX_SQRT: return 1;
    case EX_NEGATE: return -sign_of(m, n.a, depth + 1);
    case EX_POWER:
        if (ex_is_number(m->g, n.b, &value) && fmod(value, 2) == 0 && value > 0) return 1;
        return 0;
    case EX_MULTIPLY:
        if (n.a == n.b) return 1;
        return sign_of_product(sign_of(m, n.a, depth + 1), sign_of(m, n.b, depth + 1));
    case EX_DIVIDE: { /* 1 / y is never zero where it is defined */
        int above = sign_of(m, n.a, depth + 1), below = sign_of(m, n.b, depth + 1);
        return abs(below) == 2 ? sign_of_product(above, below) : 0;
    }
    case EX_ADD: {
        int a = sign_of(m, n.a, depth + 1), b = sign_of(m, n.b, depth + 1);
        if (a == 0 || b == 0 || (a > 0) != (b > 0)) return 0;
        return abs(a) > abs(b) ? a : b;
    }
    case EX_IF: {
        int a = sign_of(m, n.b, depth + 1), b = sign_of(m, n.c, depth + 1);
        return a == b && abs(a) == 2 ? a : 0;
    }
    default: return 0;
    }
}

bool model_never_zero(model *m, ex_id e)
{
    return abs(sign_of(m, e, 0)) == 2;
}

/* ---------------------------------------------------------------- solving --------------- */

static bool contains(model *m, ex_id e, uint32_t slot)
{
    bool found = false;
    if (model_level(m, e) <= LEVEL_PARAMETER) return false;
    ex_walk *w = ex_walk_begin(m->g, &e, 1);
    for (size_t i = 0; i < w->count && !found; i++) found = leaf_slot(m->g, w->order[i]) == slot;
    ex_walk_end(m->g, w);
    return found;
}

bool model_is_in(model *m, const model_equation *e, uint32_t slot)
{
    return contains(m, e->left, slot) || contains(m, e->right, slot);
}

static ex_id solve_plainly(model *m, const model_equation *e, uint32_t slot)
{
    const ex_id side[] = { e->left, e->right, e->left };
    for (int k = 0; k < 2; k++) {
        const ex_node n = *ex_at(m->g, side[k]);
        bool bare = leaf_slot(m->g, side[k]) == slot;
        bool turned = n.op == EX_NOT && leaf_slot(m->g, n.a) == slot;
        if ((!bare && !turned) || contains(m, side[k + 1], slot)) continue;
        return bare ? side[k + 1] : ex_unary(m->g, EX_NOT, side[k + 1]);
    }
    return 0;
}

typedef struct zeroing {
    uint32_t slot;
} zeroing;

static ex_id zero_for(ex_graph *g, ex_id leaf, void *user)
{
    const zeroing *z = user;
    return leaf_slot(g, leaf) == z->slot ? ex_number(g, 0) : leaf;
}

/* Parameter expressions inside a coefficient whose sign was decided by their values. */
static void note_parameters(model *m, ex_id e, int depth)
{
    double value;
    if (depth > 30) return;
    if (model_numeric(m, e, &value)) {
        model_assume(m, e, value);
        return;
    }
    for (size_t k = 0, count = ex_operand_count(m->g, e); k < count; k++)
        if (ex_operand(m->g, e, k)) note_parameters(m, ex_operand(m->g, e, k), depth + 1);
}

ex_id model_solve_for(model *m, const model_equation *e, uint32_t slot, ex_id coefficient)
{
    ex_graph *g = m->g;
    double a;
    ex_id plain = solve_plainly(m, e, slot);
    ex_type type = m->variable[slot_variable(slot)].type;
    if (plain) return plain;
    if (!coefficient || !model_never_zero(m, coefficient) || contains(m, coefficient, slot))
        return 0;
    bool unit = ex_is_number(g, coefficient, &a) && fabs(a) == 1;
    if (type != EX_REAL && !(type == EX_INTEGER && unit)) return 0;
    note_parameters(m, coefficient, 0);
    zeroing z = { slot };
    ex_id rest = ex_binary(g, EX_SUBTRACT, e->left, e->right);
    ex_substitute(g, &rest, 1, zero_for, &z);
    if (unit) return a > 0 ? ex_unary(g, EX_NEGATE, rest) : rest;
    return ex_binary(g, EX_DIVIDE, ex_unary(g, EX_NEGATE, rest), coefficient);
}
