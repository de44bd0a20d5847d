/* derive.c: symbolic derivatives, forward through the graph.
 *
 * Every reachable node e gets a derivative e' from those of its operands, operands first; a leaf
 * gets what its owner says. Common parts stay common, so a derivative is a small multiple of the
 * expression. What jumps (sign, floor, relations) has the derivative 0 between its jumps; what has
 * a kink (abs, min, max) gets an if on the side it is on, whose relation is an event where the
 * kink was one. x^c for constant c needs no logarithm and is right for x <= 0. A sqrt at 0 has no
 * derivative: the quotient is left to be infinite there.
 *
 * Procedures: of y = f(x) a procedure (y, y') = f'(x, x') is made, once per procedure, whose
 * statements compute both. It is a procedure like any other, so that second derivatives come from
 * f''. Its slots are x, x', the other slots of f, their derivatives.
 */
#include "expression/walk.h"

#include <math.h>

typedef struct deriving {
    ex_graph *g;
    const ex_walk *w;
    ex_id (*rate)(ex_graph *g, ex_id leaf, void *user);
    void *user;
    ex_id zero, culprit;
    bool in_time;
} deriving;

static uint32_t tangent_of(ex_graph *g, uint32_t procedure, ex_id *culprit);

/* ---------------------------------------------------------------- small words ----------- */

static ex_id add(ex_graph *g, ex_id a, ex_id b)
{
    return ex_binary(g, EX_ADD, a, b);
}

static ex_id subtract(ex_graph *g, ex_id a, ex_id b)
{
    return ex_binary(g, EX_SUBTRACT, a, b);
}

static ex_id multiply(ex_graph *g, ex_id a, ex_id b)
{
    return ex_binary(g, EX_MULTIPLY, a, b);
}

static ex_id divide(ex_graph *g, ex_id a, ex_id b)
{
    double value;
    if (ex_is_number(g, a, &value) && value == 0)
        return a; /* a derivative that vanishes: the denominator does not matter */
    return ex_binary(g, EX_DIVIDE, a, b);
}

static ex_id negate(ex_graph *g, ex_id a)
{
    return ex_unary(g, EX_NEGATE, a);
}

static ex_id square(ex_graph *g, ex_id a)
{
    return multiply(g, a, a);
}

static ex_id one_plus(ex_graph *g, ex_id a)
{
    return add(g, ex_number(g, 1), a);
}

static ex_id one_minus(ex_graph *g, ex_id a)
{
    return subtract(g, ex_number(g, 1), a);
}

/* ---------------------------------------------------------------- one operand ----------- */

/* y = f(a), da = a' */
static ex_id unary(ex_graph *g, const ex_node *n, ex_id y, ex_id da)
{
    ex_id a = n->a, zero = ex_number(g, 0);
    switch (n->op) {
    case EX_NEGATE: return negate(g, da);
    case EX_ABS: {
        ex_id below = ex_binary_flagged(g, EX_LESS, a, zero, n->flags);
        return ex_if(g, below, negate(g, da), da);
    }
    case EX_SQRT: return divide(g, da, multiply(g, ex_number(g, 2), y));
    case EX_SIN: return multiply(g, ex_unary(g, EX_COS, a), da);
    case EX_COS: return negate(g, multiply(g, ex_unary(g, EX_SIN, a), da));
    case EX_TAN: return multiply(g, one_plus(g, square(g, y)), da);
    case EX_ASIN: return divide(g, da, ex_unary(g, EX_SQRT, one_minus(g, square(g, a))));
    case EX_ACOS: return negate(g, divide(g, da, ex_unary(g, EX_SQRT, one_minus(g, square(g, a)))));
    case EX_ATAN: return divide(g, da, one_plus(g, square(g, a)));
    case EX_SINH: return multiply(g, ex_unary(g, EX_COSH, a), da);
    case EX_COSH: return multiply(g, ex_unary(g, EX_SINH, a), da);
    case EX_TANH: return multiply(g, one_minus(g, square(g, y)), da);
    case EX_EXP: return multiply(g, y, da);
    case EX_LOG: return divide(g, da, a);
    case EX_LOG10: return divide(g, da, multiply(g, ex_number(g, log(10)), a));
    case EX_NO_EVENT: return ex_unary(g, EX_NO_EVENT, da);
    default: return zero; /* piecewise constant */
    }
}

/* ---------------------------------------------------------------- two operands ---------- */

/* y = a^b: b a^(b-1) a' + a^b log(a) b', where a^b log(a) -> 0 for a -> 0, b > 0. */
static ex_id power(ex_graph *g, const ex_node *n, ex_id y, ex_id da, ex_id db)
{
    ex_id a = n->a, b = n->b, zero = ex_number(g, 0);
    double value = 0;
    ex_id by_base = zero, by_exponent = zero;
    if (da != zero) {
        ex_id lower = ex_binary(g, EX_POWER, a, subtract(g, b, ex_number(g, 1)));
        by_base = multiply(g, multiply(g, b, lower), da);
    }
    if (db != zero) {
        by_exponent = multiply(g, y, ex_unary(g, EX_LOG, a));
        if (!ex_is_number(g, a, &value) || value <= 0)
            by_exponent = ex_if(g, ex_binary(g, EX_EQUAL, a, zero), zero, by_exponent);
        by_exponent = multiply(g, by_exponent, db);
    }
    return add(g, by_base, by_exponent);
}

/* In these two the parts are named, so that every compiler builds them in the same order. */
static ex_id product(ex_graph *g, ex_id a, ex_id b, ex_id da, ex_id db)
{
    if (a == b) return multiply(g, multiply(g, ex_number(g, 2), a), da);
    ex_id left = multiply(g, da, b), right = multiply(g, a, db);
    return add(g, left, right);
}

static ex_id angle(ex_graph *g, ex_id a, ex_id b, ex_id da, ex_id db)
{
    ex_id left = multiply(g, b, da), right = multiply(g, a, db);
    ex_id numerator = subtract(g, left, right), aa = square(g, a), bb = square(g, b);
    return divide(g, numerator, add(g, aa, bb));
}

static ex_id smooth(ex_graph *g, ex_id order, ex_id db)
{
    double p = 0;
    if (!ex_is_number(g, order, &p) || p < 1) return db;
    return ex_binary(g, EX_SMOOTH, ex_constant(g, p - 1, EX_INTEGER), db);
}

static ex_id binary(ex_graph *g, const ex_node *n, ex_id y, ex_id da, ex_id db)
{
    ex_id a = n->a, b = n->b;
    switch (n->op) {
    case EX_ADD: return add(g, da, db);
    case EX_SUBTRACT: return subtract(g, da, db);
    case EX_MULTIPLY: return product(g, a, b, da, db);
    case EX_DIVIDE: return divide(g, subtract(g, da, multiply(g, y, db)), b);
    case EX_POWER: return power(g, n, y, da, db);
    case EX_ATAN2: return angle(g, a, b, da, db);
    case EX_MIN: return ex_if(g, ex_binary_flagged(g, EX_LESS, a, b, n->flags), da, db);
    case EX_MAX: return ex_if(g, ex_binary_flagged(g, EX_LESS, b, a, n->flags), da, db);
    case EX_MOD: {
        ex_id turns = ex_unary_flagged(g, EX_FLOOR, ex_binary(g, EX_DIVIDE, a, b), n->flags);
        return subtract(g, da, multiply(g, turns, db));
    }
    case EX_REM: {
        ex_id turns = ex_binary_flagged(g, EX_DIV, a, b, n->flags);
        return subtract(g, da, multiply(g, turns, db));
    }
    case EX_HOMOTOPY: return ex_binary(g, EX_HOMOTOPY, da, db);
    case EX_SMOOTH: return smooth(g, a, db);
    default: return ex_number(g, 0); /* piecewise constant */
    }
}

/* ---------------------------------------------------------------- a node ---------------- */

static ex_id fail(deriving *d, ex_id e)
{
    if (!d->culprit) d->culprit = e;
    return 0;
}

static ex_id result(deriving *d, ex_id e)
{
    ex_graph *g = d->g;
    const ex_node n = *ex_at(g, e), call = *ex_at(g, n.a);
    ex_id inner = 0;
    uint32_t procedure = tangent_of(g, call.a, &inner);
    if (inner) return fail(d, e);
    ex_id *argument = dae_arena_take(g->arena, 2 * (size_t)call.c, sizeof *argument);
    for (uint32_t k = 0; k < call.c; k++) {
        argument[k] = g->argument[call.b + k];
        argument[call.c + k] = d->w->image[argument[k]];
    }
    return ex_result(g, ex_call(g, procedure, argument, 2 * (size_t)call.c),
                     g->procedure[call.a]->outputs + n.b, EX_REAL);
}

/* ---- derivatives that are declared ---- */

typedef struct filling {
    const deriving *d;
    const ex_id *argument;
    uint32_t inputs;
} filling;

static ex_id fill_in(ex_graph *g, ex_id leaf, void *user)
{
    const filling *f = user;
    const ex_node *n = ex_at(g, leaf);
    if (n->op != EX_LOCAL || n->a > ex_place_holder(0) || n->a <= ex_place_holder(2 * f->inputs))
        return leaf;
    uint32_t k = ex_place_holder(0) - n->a;
    return k < f->inputs ? f->argument[k] : f->d->w->image[f->argument[k - f->inputs]];
}

static bool holds(const deriving *d, const ex_declared *c, const ex_id *argument, uint32_t inputs)
{
    const ex_id *image = d->w->image;
    for (uint32_t k = 0; k < inputs; k++) {
        ex_id rate = image[argument[k]];
        if (!rate || (c->zero[k] && rate != d->zero) ||
            (c->same[k] && rate != argument[c->same[k] - 1]))
            return false;
    }
    return true;
}

static void mark_leaves(ex_graph *g, ex_walk *known, ex_id e)
{
    ex_walk *w = ex_walk_begin(g, &e, 1);
    for (size_t i = 0; i < w->count; i++)
        if (ex_operand_count(g, w->order[i]) == 0 && w->order[i] < known->capacity)
            known->image[w->order[i]] = 1;
    ex_walk_end(g, w);
}

/* Does a rate speak only of what the value depends on, and of the rates of that? How often equations
 * are differentiated was decided by what occurs in them. */
static bool speaks_of_value(const deriving *d, ex_id value, ex_id rate)
{
    ex_graph *g = d->g;
    bool all = true;
    const ex_id both[] = { value, rate };
    ex_walk *known = ex_walk_begin(g, both, 2), *w;
    for (size_t i = 0; i < known->count; i++) known->image[known->order[i]] = 0;
    mark_leaves(g, known, value);
    w = ex_walk_begin(g, &value, 1);
    for (size_t i = 0; i < w->count; i++)
        if (ex_operand_count(g, w->order[i]) == 0 && d->w->image[w->order[i]])
            mark_leaves(g, known, d->w->image[w->order[i]]);
    ex_walk_end(g, w);
    w = ex_walk_begin(g, &rate, 1);
    for (size_t i = 0; i < w->count && all; i++)
        all = ex_at(g, w->order[i])->op != EX_VARIABLE || known->image[w->order[i]] == 1 ||
              !d->rate(g, w->order[i], d->user);
    ex_walk_end(g, w);
    ex_walk_end(g, known);
    return all;
}

/* The first that holds; if none does the derivative is that of the value. */
static ex_id declared(deriving *d, const ex_node *n)
{
    ex_graph *g = d->g;
    const ex_node call = *ex_at(g, n->b);
    ex_id *argument = dae_arena_take(g->arena, (size_t)call.c + 1, sizeof *argument);
    for (uint32_t k = 0; k < call.c; k++) argument[k] = g->argument[call.b + k];
    const ex_declared *c = d->in_time ? g->procedure[call.a]->declared : NULL;
    filling f = { d, argument, call.c };
    for (; c; c = c->next) {
        ex_id rate = c->rate[n->c];
        if (!holds(d, c, argument, call.c)) continue;
        ex_substitute(g, &rate, 1, fill_in, &f);
        if (speaks_of_value(d, n->a, rate)) return rate;
    }
    return d->w->image[n->a];
}

static ex_id leaf(deriving *d, ex_id e)
{
    ex_op op = ex_at(d->g, e)->op;
    if (op == EX_NUMBER || op == EX_TEXT) return d->zero;
    ex_id rate = d->rate(d->g, e, d->user);
    return rate ? rate : d->zero;
}

/* Do all operands have the derivative 0? -1: one of them has none. */
static int constant(const deriving *d, ex_id e)
{
    int all = 1;
    for (size_t k = 0, count = ex_operand_count(d->g, e); k < count; k++) {
        ex_id operand = ex_operand(d->g, e, k);
        if (operand && !d->w->image[operand]) return -1;
        if (operand && d->w->image[operand] != d->zero) all = 0;
    }
    return all;
}

static ex_id derive(deriving *d, ex_id e)
{
    const ex_node n = *ex_at(d->g, e);
    if (n.op < EX_NEGATE || n.op == EX_ELEMENT) return leaf(d, e);
    if (n.op == EX_DECLARED && d->w->image[n.b] != d->zero) return declared(d, &n);
    int still = constant(d, e);
    if (still < 0) return 0;
    if (n.op == EX_CALL) return still ? d->zero : e; /* e stands for: its arguments move */
    if (still) return d->zero;
    const ex_id *image = d->w->image;
    if (n.op == EX_IF) return ex_if(d->g, n.a, image[n.b], image[n.c]);
    if (n.op == EX_RESULT) return result(d, e);
    if (n.op == EX_DELAY) return fail(d, e);
    if (ex_ops[n.op].operands == 1) return unary(d->g, &n, e, image[n.a]);
    return binary(d->g, &n, e, image[n.a], image[n.b]);
}

/* ---------------------------------------------------------------- the pass -------------- */

typedef ex_id leaf_rate(ex_graph *g, ex_id leaf, void *user);

static ex_id rate_in_time(ex_graph *g, ex_id e, void *user);

static void derive_all(ex_graph *g, ex_id *root, size_t roots, leaf_rate *rate, void *user,
                       ex_id only, ex_id *culprit)
{
    ex_walk *w = ex_walk_begin_deep(g, root, roots);
    deriving d = { .g = g,
                   .w = w,
                   .rate = rate,
                   .user = user,
                   .zero = ex_number(g, 0),
                   .in_time = rate == rate_in_time };
    for (size_t i = 0; i < w->count; i++) {
        ex_id e = w->order[i];
        w->image[e] = e == only ? ex_number(g, 1) : derive(&d, e);
    }
    for (size_t i = 0; i < roots; i++) root[i] = root[i] ? w->image[root[i]] : 0;
    if (culprit) *culprit = d.culprit;
    ex_walk_end(g, w);
}

static ex_id no_rate(ex_graph *g, ex_id e, void *user)
{
    (void)g, (void)e, (void)user;
    return 0;
}

ex_id ex_derivative(ex_graph *g, ex_id root, ex_id by, ex_id *culprit)
{
    derive_all(g, &root, 1, no_rate, NULL, by, culprit);
    return root;
}

typedef struct pace {
    leaf_rate *rate;
    void *user;
} pace;

/* Time runs at 1; what is no Real variable does not move between events. */
static ex_id rate_in_time(ex_graph *g, ex_id e, void *user)
{
    const pace *c = user;
    const ex_node *n = ex_at(g, e);
    if (n->op == EX_TIME) return ex_number(g, 1);
    return n->op == EX_VARIABLE && n->type == EX_REAL ? c->rate(g, e, c->user) : 0;
}

void ex_time_derivatives(ex_graph *g, ex_id *root, size_t roots,
                         ex_id (*rate)(ex_graph *g, ex_id leaf, void *user), void *user,
                         ex_id *culprit)
{
    pace c = { rate, user };
    derive_all(g, root, roots, rate_in_time, &c, 0, culprit);
}

/* ---------------------------------------------------------------- procedures ------------ */

/* The slots of f', see the head of this file: inputs are 0 .. inputs - 1 in f and in f'. */
typedef struct tangent {
    ex_graph *g;
    uint32_t inputs, slots; /* of f */
    ex_id culprit;
} tangent;

static uint32_t value_slot(const tangent *t, uint32_t slot)
{
    return slot < t->inputs ? slot : slot + t->inputs;
}

static uint32_t rate_slot(const tangent *t, uint32_t slot)
{
    return slot < t->inputs ? slot + t->inputs : slot + t->slots;
}

static ex_id move_slot(ex_graph *g, ex_id e, void *user)
{
    const ex_node n = *ex_at(g, e);
    if (n.op != EX_LOCAL && n.op != EX_ELEMENT) return e;
    return ex_leaf(g, n.op, value_slot(user, n.a), n.b, n.c, n.type);
}

static ex_id rate_of_slot(ex_graph *g, ex_id e, void *user)
{
    const tangent *t = user;
    const ex_node n = *ex_at(g, e);
    if ((n.op != EX_LOCAL && n.op != EX_ELEMENT) || n.type != EX_REAL) return 0;
    uint32_t slot = n.a < t->inputs ? n.a : n.a - t->inputs;
    return ex_leaf(g, n.op, rate_slot(t, slot), n.b, n.c, EX_REAL);
}

/* The expression in the slots of f'; and its derivative. */
static ex_id moved(tangent *t, ex_id e)
{
    if (e) ex_substitute(t->g, &e, 1, move_slot, t);
    return e;
}

static ex_id rate_of(tangent *t, ex_id value)
{
    ex_id culprit = 0;
    derive_all(t->g, &value, 1, rate_of_slot, t, 0, &culprit);
    if (culprit && !t->culprit) t->culprit = culprit;
    return value;
}

static ex_statement *append(tangent *t, ex_block *block, const ex_statement *s)
{
    block->statement = dae_arena_grow(t->g->arena, block->statement, block->statements,
                                      &block->capacity, sizeof *s);
    block->statement[block->statements] = *s;
    return &block->statement[block->statements++];
}

/* x := e gives x' := e'; x := e. In this order: e' is in terms of the old x. */
static void derive_assign(tangent *t, const ex_statement *s, ex_block *out)
{
    ex_statement value = *s, rate = *s;
    value.first = value_slot(t, s->first);
    value.index = rate.index = moved(t, s->index);
    value.value = moved(t, s->value);
    rate.first = rate_slot(t, s->first);
    rate.value = rate_of(t, value.value);
    append(t, out, &rate);
    append(t, out, &value);
}

/* y := f(e) gives (y, y') := f'(e, e') */
static void derive_invoke(tangent *t, const ex_statement *s, ex_block *out)
{
    ex_statement both = *s;
    both.procedure = tangent_of(t->g, s->procedure, &t->culprit);
    both.arguments = 2 * s->arguments;
    both.argument = dae_arena_take(t->g->arena, both.arguments, sizeof *both.argument);
    for (size_t k = 0; k < s->arguments; k++) {
        both.argument[k] = moved(t, s->argument[k]);
        both.argument[s->arguments + k] = rate_of(t, both.argument[k]);
    }
    size_t outputs = t->g->procedure[s->procedure]->outputs;
    both.results = 2 * outputs;
    both.result = dae_arena_take(t->g->arena, both.results, sizeof *both.result);
    for (size_t k = 0; k < outputs; k++) {
        bool wanted = k < s->results && s->result[k] != EX_NOWHERE;
        both.result[k] = wanted ? value_slot(t, s->result[k]) : EX_NOWHERE;
        both.result[outputs + k] = wanted ? rate_slot(t, s->result[k]) : EX_NOWHERE;
    }
    append(t, out, &both);
}

static void derive_block(tangent *t, const ex_block *in, ex_block *out)
{
    *out = (ex_block){ 0 };
    for (size_t i = 0; i < in->statements; i++) {
        const ex_statement *s = &in->statement[i];
        if (s->kind == EX_ASSIGN) {
            derive_assign(t, s, out);
        } else if (s->kind == EX_INVOKE) {
            derive_invoke(t, s, out);
        } else {
            ex_statement copy = *s;
            copy.condition = moved(t, s->condition);
            derive_block(t, &s->block, &copy.block);
            derive_block(t, &s->other, &copy.other);
            append(t, out, &copy);
        }
    }
}

/* Made before its body is, so that a recursive procedure finds its own. */
static uint32_t tangent_of(ex_graph *g, uint32_t procedure, ex_id *culprit)
{
    ex_procedure *f = g->procedure[procedure];
    if (f->tangent) return f->tangent - 1;
    ex_procedure *df = dae_arena_take(g->arena, 1, sizeof *df);
    tangent t = { .g = g, .inputs = f->inputs, .slots = f->slots };
    *df = (ex_procedure){ .name = dae_arena_print(g->arena, "der(%s)", f->name),
                          .inputs = 2 * f->inputs,
                          .slots = 2 * f->slots,
                          .outputs = 2 * f->outputs };
    df->output = dae_arena_take(g->arena, df->outputs, sizeof *df->output);
    for (uint32_t k = 0; k < f->outputs; k++) {
        df->output[k] = value_slot(&t, f->output[k]);
        df->output[f->outputs + k] = rate_slot(&t, f->output[k]);
    }
    uint32_t number = ex_add_procedure(g, df);
    f->tangent = 1 + number;
    derive_block(&t, &f->body, &df->body);
    if (t.culprit) {
        f->tangent = 0; /* the next one who asks shall hear of it, too */
        *culprit = *culprit ? *culprit : t.culprit;
    }
    return number;
}
