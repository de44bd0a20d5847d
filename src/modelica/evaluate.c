/* evaluate.c: an expression of the text becomes a value, in the scope given.
 *
 * One evaluator for everything: constants come out as numbers because the expression graph
 * folds, variables as expressions, functions are executed with expressions for their arguments.
 */
#include "modelica/instance.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ operators -------- */

static mo_value *sum(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    mo_value *v = mo_evaluate(m, s, a->item[0]);
    if (a->op[0] == MO_MINUS || a->op[0] == MO_DOT_MINUS) v = mo_negate(m, s, v, a->place);
    for (int i = 1; i < a->count && v->kind != MO_V_NONE; i++)
        v = mo_operate(m, s, (mo_operator)a->op[i], v, mo_evaluate(m, s, a->item[i]), a->place);
    return v;
}

static mo_value *product(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    mo_value *v = mo_evaluate(m, s, a->item[0]);
    for (int i = 1; i < a->count && v->kind != MO_V_NONE; i++)
        v = mo_operate(m, s, (mo_operator)a->op[i], v, mo_evaluate(m, s, a->item[i]), a->place);
    return v;
}

static mo_value *not_boolean(mo_model *m, mo_value *v, const char *what, mo_place place)
{
    if (v->kind != MO_V_NONE) {
        mo_error(m->context, DAE_E_MODEL, place, "%s needs a Boolean, not %s", what,
                 mo_shape(m, v));
        mo_hint(m->context, "compare it with something: x > 0, x <> 0");
    }
    return mo_none(m);
}

ex_id mo_both(mo_model *m, ex_id guard, ex_id condition)
{
    return guard ? ex_binary(m->graph, EX_AND, guard, condition) : condition;
}

static mo_value *logic(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    ex_op op = a->kind == MO_A_AND ? EX_AND : EX_OR;
    const char *what = a->kind == MO_A_AND ? "'and'" : "'or'";
    mo_value *v = mo_evaluate(m, s, a->item[0]);
    mo_scope right = *s; /* it does not count where the left side decides */
    for (int i = 0; i < a->count; i++) {
        if (i > 0 && v->kind == MO_V_SCALAR && v->type == EX_BOOLEAN)
            right.guard = mo_both(m, s->guard,
                                  op == EX_AND ? v->scalar : ex_unary(m->graph, EX_NOT, v->scalar));
        mo_value *w = i ? mo_evaluate(m, &right, a->item[i]) : v;
        mo_value *operand[2] = { mo_fields(m, v), mo_fields(m, w) }, *own = NULL;
        if (operand[0]->kind == MO_V_RECORD && i == 0) continue;
        if (operand[0]->kind == MO_V_RECORD || operand[1]->kind == MO_V_RECORD)
            own = mo_overloaded(m, s, op == EX_AND ? "and" : "or", operand, 2, a->place);
        if (own) {
            v = own;
            continue;
        }
        bool scalars = w->kind == MO_V_SCALAR || (w->kind == MO_V_ARRAY && w->element);
        if (!scalars || w->type != EX_BOOLEAN) return not_boolean(m, w, what, a->item[i]->place);
        if (i == 0) continue;
        if (!mo_same_sizes(v, w)) {
            mo_error(m->context, DAE_E_MODEL, a->place, "%s between %s and %s", what,
                     mo_shape(m, v), mo_shape(m, w));
            mo_hint(m->context, "the sizes must be equal");
            return mo_none(m);
        }
        if (v->kind == MO_V_SCALAR) {
            v = mo_scalar(m, ex_binary(m->graph, op, v->scalar, w->scalar), EX_BOOLEAN, NULL);
            continue;
        }
        mo_value *r = mo_new_array(m, v->dimensions, v->size, EX_BOOLEAN);
        for (size_t k = 0; k < v->count; k++)
            r->element[k] = ex_binary(m->graph, op, v->element[k], w->element[k]);
        v = r;
    }
    return v;
}

static ex_id inverted(mo_model *m, ex_id e, void *user)
{
    (void)user;
    return ex_unary(m->graph, EX_NOT, e);
}

static mo_value *negation(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    mo_value *v = mo_fields(m, mo_evaluate(m, s, a->item[0]));
    mo_value *own = v->kind == MO_V_RECORD ? mo_overloaded(m, s, "not", &v, 1, a->place) : NULL;
    if (own) return own;
    bool scalars = v->kind == MO_V_SCALAR || (v->kind == MO_V_ARRAY && v->element);
    if (!scalars || v->type != EX_BOOLEAN) return not_boolean(m, v, "'not'", a->place);
    return mo_map(m, v, EX_BOOLEAN, inverted, NULL);
}

/* Comparisons of Integers (i == n) shape the equations: their parameters count as known. */
bool mo_decided(mo_model *m, ex_id condition, double *x)
{
    if (ex_is_number(m->graph, condition, x)) return true;
    const ex_node *node = ex_at(m->graph, condition);
    bool relation = node->op >= EX_LESS && node->op <= EX_NOT_EQUAL;
    if (!relation || ex_at(m->graph, node->a)->type == EX_REAL ||
        ex_at(m->graph, node->b)->type == EX_REAL)
        return false;
    uint32_t culprit;
    m->guessing++;
    bool known = mo_evaluate_number(m, condition, x, &culprit);
    m->guessing--;
    return known;
}

/* Branches whose shapes differ need a condition that is known now. */
static mo_value *conditional(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    ex_id *condition = dae_arena_take(&m->context->arena, (size_t)a->count, sizeof *condition);
    mo_value **value = dae_arena_take(&m->context->arena, (size_t)a->count, sizeof *value);
    int n = 0;
    mo_value *last = NULL;
    mo_scope inside = *s;
    for (int i = 0; i + 1 < a->count && !last; i += 2) {
        mo_value *c = mo_evaluate(m, s, a->item[i]);
        if (c->kind != MO_V_SCALAR || c->type != EX_BOOLEAN)
            return not_boolean(m, c, "'if'", a->item[i]->place);
        double x;
        if (mo_decided(m, c->scalar, &x)) {
            if (x != 0) last = mo_evaluate(m, &inside, a->item[i + 1]);
            continue;
        }
        ex_id before = inside.guard;
        inside.guard = mo_both(m, before, c->scalar);
        condition[n] = c->scalar;
        value[n++] = mo_evaluate(m, &inside, a->item[i + 1]);
        inside.guard = mo_both(m, before, ex_unary(m->graph, EX_NOT, c->scalar));
    }
    if (!last) last = mo_evaluate(m, &inside, a->item[a->count - 1]);
    while (n-- > 0) {
        double x;
        uint32_t culprit;
        if (value[n]->kind != MO_V_NONE && last->kind != MO_V_NONE &&
            !mo_same_sizes(value[n], last) && mo_evaluate_number(m, condition[n], &x, &culprit))
            last = x != 0 ? value[n] : last;
        else
            last = mo_choose(m, condition[n], value[n], last, a->place);
    }
    return last;
}

/* ------------------------------------------------------------------ ranges ----------- */

static bool known_scalar(mo_model *m, const mo_scope *s, const mo_ast *a, double *x, mo_value **v)
{
    *v = mo_evaluate(m, s, a);
    if ((*v)->kind == MO_V_NONE) return false;
    uint32_t culprit;
    if ((*v)->kind == MO_V_SCALAR && mo_evaluate_number(m, (*v)->scalar, x, &culprit)) return true;
    mo_error(m->context, DAE_E_MODEL, a->place,
             "a bound of the range is not known before the simulation");
    mo_hint(m->context, "use constants and parameters with values");
    return false;
}

static mo_value *range(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    double start, step = 1, stop;
    mo_value *v, *w, *between = NULL;
    if (!known_scalar(m, s, a->item[0], &start, &v)) return mo_none(m);
    if (a->count == 3 && !known_scalar(m, s, a->item[1], &step, &between)) return mo_none(m);
    if (!known_scalar(m, s, a->item[a->count - 1], &stop, &w)) return mo_none(m);
    ex_type type = v->type == EX_REAL || w->type == EX_REAL || (between && between->type == EX_REAL)
                       ? EX_REAL
                       : v->type;
    if (step == 0) {
        mo_error(m->context, DAE_E_MODEL, a->place, "the step of a range is 0");
        mo_hint(m->context, "write start:step:stop with a step that is not 0");
        return mo_none(m);
    }
    double count = floor((stop - start) / step * (1 + 1e-15) + (type == EX_REAL ? 1e-10 : 0)) + 1;
    if (!(count > 0)) count = 0;
    if (count > MO_MAX_VARIABLES)
        mo_fatal_hint(m->context, DAE_E_LIMIT, a->place, "use a shorter range",
                      "the range has %.0f elements; %.0f are possible", count, MO_MAX_VARIABLES);
    int size = (int)count;
    mo_value *r = mo_new_array(m, 1, &size, type);
    r->view = v->view;
    for (int i = 0; i < size; i++) r->element[i] = ex_constant(m->graph, start + i * step, type);
    return r;
}

/* ------------------------------------------------------------------ arrays ----------- */

static mo_env *with(mo_model *m, mo_env *env, const char *name, mo_value *value)
{
    mo_env *more = dae_arena_take(&m->context->arena, 1, sizeof *more);
    *more = (mo_env){ .name = name, .value = value, .next = env };
    return more;
}

/* { e for i in 1:0 }: of the type that e would have. */
static mo_value *no_elements(mo_model *m, const mo_scope *s, const mo_ast *body,
                             const mo_iterator *it, int iterators)
{
    mo_scope inside = *s;
    for (int i = iterators; i-- > 0;)
        inside.env = with(m, inside.env, it[i].name, mo_integer(m, 1));
    int none = 0;
    return mo_new_array(m, 1, &none, mo_type_in_text(m, &inside, body));
}

/* { e for i in a, j in b }: b is the outer dimension. */
static mo_value *comprehension(mo_model *m, const mo_scope *s, const mo_ast *body,
                               const mo_iterator *it, int iterators, mo_place place)
{
    if (iterators == 0) return mo_evaluate(m, s, body);
    const mo_iterator *last = &it[iterators - 1];
    mo_value *v = mo_iterator_range(m, s, last, body, NULL);
    if (v->kind == MO_V_NONE) return v;
    mo_value **item = dae_arena_take(&m->context->arena, v->count + 1, sizeof *item);
    for (size_t i = 0; i < v->count; i++) {
        mo_scope inside = *s;
        inside.env = with(m, s->env, last->name, mo_item_at(m, v, i));
        item[i] = comprehension(m, &inside, body, it, iterators - 1, place);
        if (item[i]->kind == MO_V_NONE) return item[i];
    }
    return v->count ? mo_stack(m, item, v->count, place) : no_elements(m, s, body, it, iterators);
}

static mo_value *array(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    if (a->call.iterators)
        return comprehension(m, s, a->item[0], a->call.iterator, a->call.iterators, a->place);
    mo_value **item = dae_arena_take(&m->context->arena, (size_t)a->count + 1, sizeof *item);
    for (int i = 0; i < a->count; i++) item[i] = mo_evaluate(m, s, a->item[i]);
    return mo_stack(m, item, (size_t)a->count, a->place);
}

/* The same elements with dimensions of size 1 added at the end. */
mo_value *mo_promote(mo_model *m, mo_value *v, int dimensions)
{
    int have = v->kind == MO_V_ARRAY ? v->dimensions : 0;
    if (have >= dimensions || v->kind == MO_V_NONE) return v;
    int *size = dae_arena_take(&m->context->arena, (size_t)dimensions, sizeof *size);
    for (int d = 0; d < dimensions; d++) size[d] = d < have ? v->size[d] : 1;
    bool scalars = v->kind == MO_V_SCALAR || (v->kind == MO_V_ARRAY && v->element);
    mo_value *r =
        scalars ? mo_new_array(m, dimensions, size, v->type) : mo_new_items(m, dimensions, size);
    r->view = v->view;
    for (size_t i = 0; i < r->count; i++)
        if (scalars)
            r->element[i] = v->kind == MO_V_SCALAR ? v->scalar : v->element[i];
        else
            r->item[i] = v->kind == MO_V_ARRAY ? v->item[i] : v;
    return r;
}

/* cat(dimension, ...), dimension from 0. All have the same number of dimensions. */
mo_value *mo_concatenate(mo_model *m, int dimension, mo_value **item, size_t count, mo_place place)
{
    mo_value *first = item[0];
    int n = first->dimensions;
    int *size = dae_arena_take(&m->context->arena, (size_t)n, sizeof *size);
    memcpy(size, first->size, (size_t)n * sizeof *size);
    size[dimension] = 0;
    ex_type type = first->type;
    for (size_t i = 0; i < count; i++) {
        bool fits = item[i]->dimensions == n;
        for (int d = 0; fits && d < n; d++)
            fits = d == dimension || item[i]->size[d] == first->size[d];
        if (!fits) {
            mo_error(m->context, DAE_E_MODEL, place,
                     "%s and %s cannot be put together in dimension %d", mo_shape(m, first),
                     mo_shape(m, item[i]), dimension + 1);
            mo_hint(m->context, "all other sizes must be equal");
            return mo_none(m);
        }
        size[dimension] += item[i]->size[dimension];
        if (item[i]->type == EX_REAL && type == EX_INTEGER) type = EX_REAL;
    }
    bool scalars = first->element != NULL;
    mo_value *r = scalars ? mo_new_array(m, n, size, type) : mo_new_items(m, n, size);
    r->view = first->view;
    size_t outer = 1, inner = 1, at = 0;
    for (int d = 0; d < dimension; d++) outer *= (size_t)size[d];
    for (int d = dimension + 1; d < n; d++) inner *= (size_t)size[d];
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < count; i++) {
            size_t run = inner * (size_t)item[i]->size[dimension];
            for (size_t k = 0; k < run; k++, at++)
                if (scalars)
                    r->element[at] = item[i]->element[o * run + k];
                else
                    r->item[at] = item[i]->item[o * run + k];
        }
    return r;
}

static mo_value *beside(mo_model *m, const mo_scope *s, const mo_ast *a, int dimension)
{
    mo_value **item = dae_arena_take(&m->context->arena, (size_t)a->count + 1, sizeof *item);
    int most = 2;
    for (int i = 0; i < a->count; i++) {
        item[i] = a->item[i]->kind == MO_A_ROW ? beside(m, s, a->item[i], 1)
                                               : mo_evaluate(m, s, a->item[i]);
        if (item[i]->kind == MO_V_NONE) return item[i];
        if (item[i]->kind == MO_V_ARRAY && item[i]->dimensions > most) most = item[i]->dimensions;
    }
    for (int i = 0; i < a->count; i++) item[i] = mo_promote(m, item[i], most);
    return a->count == 1 ? item[0] : mo_concatenate(m, dimension, item, (size_t)a->count, a->place);
}

static mo_value *tuple(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    mo_value *r = dae_arena_take(&m->context->arena, 1, sizeof *r);
    *r = (mo_value){ .kind = MO_V_TUPLE, .count = (size_t)a->count };
    r->item = dae_arena_take(&m->context->arena, r->count + 1, sizeof *r->item);
    for (int i = 0; i < a->count; i++)
        r->item[i] = a->item[i] ? mo_evaluate(m, s, a->item[i]) : NULL;
    return r;
}

/* ------------------------------------------------------------------ subscripts ------- */

typedef struct subscript {
    int *index; /* from 0 */
    size_t count;
    bool scalar;   /* drops the dimension */
    ex_id unknown; /* an index that is not known yet, from 1; 0: it is known */
    bool whole;    /* a Boolean or enumeration: what it can be, it is */
} subscript;

/* A subscript as a number from 1: false and true are the first and second, literals have theirs. */
ex_id mo_position(mo_model *m, ex_id e)
{
    ex_graph *g = m->graph;
    switch (ex_at(g, e)->type) {
    case EX_BOOLEAN:
        return ex_if(g, e, ex_constant(g, 2, EX_INTEGER), ex_constant(g, 1, EX_INTEGER));
    case EX_ENUMERATION: return ex_unary(g, EX_INTEGER_OF, e);
    default: return e;
    }
}

static bool read_subscript(mo_model *m, const mo_scope *s, const mo_value *v, int d, mo_ast *a,
                           subscript *out)
{
    int size = v->size[d];
    mo_scope inside = *s;
    inside.end_of = v;
    inside.end_dimension = d;
    double plain;
    if (mo_whole_number(m, &inside, a, &plain) && plain >= 1 && plain <= size) {
        *out = (subscript){ .scalar = true, .count = 1 };
        out->index = dae_arena_take(&m->context->arena, 1, sizeof *out->index);
        out->index[0] = (int)plain - 1;
        return true;
    }
    mo_value *i = a->kind == MO_A_COLON ? NULL : mo_evaluate(m, &inside, a);
    *out = (subscript){ .scalar = i && i->kind == MO_V_SCALAR };
    if (i && i->kind == MO_V_NONE) return false;
    if (i && i->kind != MO_V_SCALAR &&
        !(i->kind == MO_V_ARRAY && i->element && i->dimensions == 1)) {
        mo_error(m->context, DAE_E_MODEL, a->place, "a subscript is %s", mo_shape(m, i));
        mo_hint(m->context, "use an Integer, a vector of Integers, or ':'");
        return false;
    }
    if (i && i->type == EX_REAL && i->count) {
        mo_error(m->context, DAE_E_MODEL, a->place, "a subscript is %s, not Integer",
                 mo_shape(m, i));
        mo_hint(m->context, "use integer(x) to round down");
        return false;
    }
    out->count = i ? i->count : (size_t)size;
    out->index = dae_arena_take(&m->context->arena, out->count + 1, sizeof *out->index);
    for (size_t k = 0; k < out->count; k++) {
        double x = (double)k + 1;
        uint32_t culprit;
        ex_id e = !i ? 0 : i->kind == MO_V_SCALAR ? i->scalar : i->element[k];
        if (i && !ex_is_number(m->graph, e, &x) &&
            (s->run || !mo_evaluate_number(m, e, &x, &culprit))) {
            if (!out->scalar && !mo_evaluate_number(m, e, &x, &culprit)) {
                mo_error(m->context, DAE_E_MODEL, a->place,
                         "a subscript is not known before the simulation");
                mo_hint(m->context, "a vector of subscripts must be constant");
                return false;
            }
            if (out->scalar && !mo_evaluate_number(m, e, &x, &culprit)) {
                out->unknown = mo_position(m, e);
                out->whole = i->type != EX_INTEGER;
                return true;
            }
        }
        if (i && i->type == EX_BOOLEAN) x += 1;
        if (!(x >= 1 && x <= size)) {
            mo_error(m->context, DAE_E_MODEL, a->place, "the subscript %.0f is outside of 1:%d", x,
                     size);
            mo_hint(m->context,
                    !size       ? "the array is empty"
                    : x < 1     ? "subscripts begin at 1"
                    : size == 1 ? "the array has one element"
                                : "the array has %d elements",
                    size);
            return false;
        }
        out->index[k] = (int)x - 1;
    }
    return true;
}

static mo_value *gather(mo_model *m, mo_value *v, const subscript *sub)
{
    int *size = dae_arena_take(&m->context->arena, (size_t)v->dimensions + 1, sizeof *size);
    int dimensions = 0;
    size_t count = 1;
    for (int d = 0; d < v->dimensions; d++) {
        count *= sub[d].count;
        if (!sub[d].scalar) size[dimensions++] = (int)sub[d].count;
    }
    mo_value *r =
        v->element ? mo_new_array(m, dimensions, size, v->type) : mo_new_items(m, dimensions, size);
    r->view = v->view;
    for (size_t k = 0; k < count; k++) {
        size_t at = 0, rest = k, inner = count;
        for (int d = 0; d < v->dimensions; d++) {
            inner /= sub[d].count;
            at = at * (size_t)v->size[d] + (size_t)sub[d].index[rest / inner];
            rest %= inner;
        }
        if (v->element)
            r->element[k] = v->element[at];
        else
            r->item[k] = v->item[at];
    }
    return dimensions ? r : mo_item_at(m, r, 0);
}

/* An index that is only known during the simulation must be one of 1:size then. */
static void check_bounds(mo_model *m, ex_id index, int size, mo_place place)
{
    ex_graph *g = m->graph;
    flat_model *flat = m->flat;
    ex_id low = ex_binary(g, EX_LESS_EQUAL, ex_constant(g, 1, EX_INTEGER), index);
    ex_id high = ex_binary(g, EX_LESS_EQUAL, index, ex_constant(g, size, EX_INTEGER));
    ex_id inside = ex_binary(g, EX_AND, low, high);
    if (ex_is_number(g, inside, NULL)) return;
    for (size_t i = 0; i < flat->assertions; i++)
        if (flat->assertion[i].condition == inside) return;
    flat->assertion = dae_arena_grow(&m->context->arena, flat->assertion, flat->assertions,
                                     &flat->assertion_capacity, sizeof *flat->assertion);
    const char *words = dae_arena_print(&m->context->arena, "a subscript is outside of 1:%d", size);
    flat->assertion[flat->assertions++] =
        (flat_assertion){ .condition = inside, .message = ex_text(g, words), .place = place };
}

/* An index that is only known during the simulation chooses among all values. */
static mo_value *choose_index(mo_model *m, const mo_scope *s, mo_value *v, subscript *sub,
                              mo_place place)
{
    int d = 0;
    while (d < v->dimensions && !sub[d].unknown) d++;
    if (d == v->dimensions) return gather(m, v, sub);
    ex_id index = sub[d].unknown;
    if (s->run && s->run->build && v->element) {
        ex_id unknown[16] = { 0 };
        int known[16] = { 0 };
        bool scalar = v->dimensions <= 16;
        for (int k = 0; k < v->dimensions && scalar; k++) {
            scalar = sub[k].scalar;
            unknown[k] = sub[k].unknown;
            known[k] = sub[k].unknown ? 0 : sub[k].index[0];
        }
        ex_id element;
        if (scalar && mo_slot_element(s->run, v, unknown, known, &element))
            return mo_scalar(m, element, v->type, v->view);
    }
    if (v->size[d] == 0 || v->size[d] > 4096) {
        mo_error(m->context, DAE_E_UNSUPPORTED, place,
                 "a subscript that is only known during the simulation, of %d elements",
                 v->size[d]);
        mo_hint(m->context, "use a constant subscript, or an array of at most 4096 elements");
        return mo_none(m);
    }
    if (!s->run && s->object && !s->no_event && !sub[d].whole)
        check_bounds(m, index, v->size[d], place);
    mo_value *r = NULL;
    for (int k = v->size[d]; k-- > 0;) {
        sub[d].unknown = 0;
        sub[d].index[0] = k;
        mo_value *one = choose_index(m, s, v, sub, place);
        ex_id here = ex_binary(m->graph, EX_EQUAL, index, ex_constant(m->graph, k + 1, EX_INTEGER));
        r = r ? mo_choose(m, here, one, r, place) : one;
    }
    sub[d].unknown = index;
    return r;
}

mo_value *mo_subscript(mo_model *m, const mo_scope *s, mo_value *v, mo_ast **a, int count,
                       mo_place place)
{
    if (v->kind == MO_V_NONE) return v;
    if (v->kind != MO_V_ARRAY || count > v->dimensions) {
        mo_error(m->context, DAE_E_MODEL, place, "%d subscript%s for %s", count,
                 count == 1 ? "" : "s", mo_shape(m, v));
        mo_hint(m->context, v->kind == MO_V_ARRAY ? "it has fewer dimensions" : "it is no array");
        return mo_none(m);
    }
    subscript *sub = dae_arena_take(&m->context->arena, (size_t)v->dimensions, sizeof *sub);
    mo_ast colon = { .kind = MO_A_COLON, .place = place };
    for (int d = 0; d < v->dimensions; d++)
        if (!read_subscript(m, s, v, d, d < count ? a[d] : &colon, &sub[d])) return mo_none(m);
    return choose_index(m, s, v, sub, place);
}

static mo_value *last_index(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    if (!s->end_of) {
        mo_error(m->context, DAE_E_MODEL, a->place, "'end' outside of a subscript");
        mo_hint(m->context, "'end' is the last index of the array it stands in: x[end]");
        return mo_none(m);
    }
    return mo_integer(m, s->end_of->size[s->end_dimension]);
}

/* ------------------------------------------------------------------ calls ------------ */

static void read_arguments(mo_model *m, const mo_scope *s, const mo_ast *a, mo_value **value)
{
    for (int i = 0; i < a->count; i++) value[i] = mo_evaluate(m, s, a->item[i]);
}

static mo_value *call_value(mo_model *m, const mo_scope *s, const mo_ast *a, mo_value *f)
{
    size_t count = (size_t)a->count;
    size_t bound = f->kind == MO_V_FUNCTION ? f->count : 0;
    mo_value **value = dae_arena_take(&m->context->arena, count + bound + 1, sizeof *value);
    const char **label = dae_arena_take(&m->context->arena, count + bound + 1, sizeof *label);
    read_arguments(m, s, a, value);
    for (size_t i = 0; i < count; i++) {
        label[i] = a->call.label ? a->call.label[i] : NULL;
        if (value[i]->kind == MO_V_NONE) return value[i];
    }
    for (size_t i = 0; i < bound; i++) {
        value[count + i] = f->item[i];
        label[count + i] = f->field[i];
    }
    mo_view *v = f->view;
    mo_expand(m, v);
    if (v->primitive == MO_EXTERNAL_OBJECT)
        return mo_external_object(m, s, v, value, label, count, a->place);
    if (mo_is_kind(m, v, MO_FUNCTION)) {
        mo_scope from = *s;
        from.home = f->kind == MO_V_CLASS && f->object ? f->object
                    : s->object                        ? s->object
                                                       : s->home;
        return mo_call_function(m, &from, v, value, label, count + bound, a->place);
    }
    double number;
    if (v->primitive == MO_ENUMERATION && count == 1 && mo_constant_number(m, value[0], &number) &&
        number >= 1 && number <= v->enumeration->def->literals)
        return mo_literal(m, v->enumeration, (int)number);
    if (v->primitive == MO_ENUMERATION && count == 1 && value[0]->kind == MO_V_SCALAR)
        return mo_scalar(m, value[0]->scalar, EX_ENUMERATION, v->enumeration);
    if (mo_is_kind(m, v, MO_RECORD) || v->def->kind == MO_CLASS || v->def->kind == MO_MODEL ||
        v->def->kind == MO_CONNECTOR || v->def->kind == MO_BLOCK)
        return mo_record_of(m, s, v, value, label, count, a->place);
    mo_error(m->context, DAE_E_MODEL, a->place, "'%s' is no function", v->def->name);
    mo_hint(m->context, "only functions and records can be called");
    return mo_none(m);
}

static mo_value *no_function(mo_model *m, const mo_ast *a, const mo_value *f)
{
    mo_error(m->context, DAE_E_MODEL, a->place, "'%s' is %s, not a function",
             mo_reference_text(m->context, a->call.reference), mo_shape(m, f));
    bool start = a->count == 1 && a->item[0]->kind == MO_A_INTEGER && a->item[0]->integer == 0;
    mo_hint(m->context,
            f->kind == MO_V_ARRAY ? "subscripts are written in brackets: x[i]"
            : start
                ? "an initial value is given in the declaration, x(start = 1, fixed = true), or in "
                  "a section 'initial equation'"
                : "a product is written with '*'");
    return mo_none(m);
}

mo_value *mo_evaluate_call(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    const mo_reference *r = a->call.reference;
    mo_value *f = NULL;
    bool simple = r->parts == 1 && !r->global;
    if (simple) f = mo_find_name(m, s, r->part[0].name);
    if (simple &&
        (!f ||
         (f->kind == MO_V_CLASS && f->view->primitive && f->view->primitive != MO_ENUMERATION &&
          f->view->primitive != MO_EXTERNAL_OBJECT) ||
         f->kind == MO_V_SCALAR || f->kind == MO_V_ARRAY)) {
        bool found = false;
        mo_value *v = mo_builtin(m, s, a, r->part[0].name, &found);
        if (found) return v;
        if (f && f->kind != MO_V_CLASS) return no_function(m, a, f);
        mo_say_unknown(m, s, r->part[0].name, r->place, "function");
        return mo_none(m);
    }
    if (r->parts == 2 && strcmp(r->part[0].name, "Connections") == 0 &&
        (r->global ? !mo_find_entry(m, m->root, r->part[0].name)
                   : !mo_find_name(m, s, r->part[0].name)))
        return mo_connections_query(m, s, a, r->part[1].name);
    if (r->parts == 1 && r->global && mo_is_builtin(r->part[0].name) &&
        !mo_find_entry(m, m->root, r->part[0].name)) {
        bool found;
        return mo_builtin(m, s, a, r->part[0].name, &found);
    }
    if (!f) f = mo_reference_value(m, s, r);
    if (f->kind == MO_V_NONE) return f;
    if (f->kind != MO_V_CLASS && f->kind != MO_V_FUNCTION) return no_function(m, a, f);
    return call_value(m, s, a, f);
}

/* function f(a = 1): a function with some arguments given. */
static mo_value *partial(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    mo_value *f = mo_reference_value(m, s, a->call.reference);
    if (f->kind != MO_V_CLASS && f->kind != MO_V_FUNCTION) return mo_none(m);
    mo_value *r = dae_arena_take(&m->context->arena, 1, sizeof *r);
    size_t had = f->kind == MO_V_FUNCTION ? f->count : 0;
    *r = (mo_value){ .kind = MO_V_FUNCTION, .view = f->view, .count = had + (size_t)a->count };
    r->item = dae_arena_take(&m->context->arena, r->count + 1, sizeof *r->item);
    r->field = dae_arena_take(&m->context->arena, r->count + 1, sizeof *r->field);
    for (size_t i = 0; i < had; i++) {
        r->item[i] = f->item[i];
        r->field[i] = f->field[i];
    }
    for (int i = 0; i < a->count; i++) {
        r->item[had + (size_t)i] = mo_evaluate(m, s, a->item[i]);
        r->field[had + (size_t)i] = a->call.label ? a->call.label[i] : NULL;
    }
    return r;
}

/* ------------------------------------------------------------------ all of them ------ */

/* A function with several results is worth its first where one is needed. */
static mo_value *first_result(mo_value *v)
{
    return v->kind == MO_V_TUPLE && v->count ? v->item[0] : v;
}

static mo_value *dispatch(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    switch (a->kind) {
    case MO_A_REAL: return mo_real(m, a->number);
    case MO_A_INTEGER: return mo_integer(m, (double)a->integer);
    case MO_A_STRING: return mo_string(m, a->text);
    case MO_A_BOOLEAN: return mo_boolean(m, a->integer != 0);
    case MO_A_REFERENCE: return mo_reference_value(m, s, a->call.reference);
    case MO_A_CALL: return first_result(mo_evaluate_call(m, s, a));
    case MO_A_PARTIAL: return partial(m, s, a);
    case MO_A_SUM: return sum(m, s, a);
    case MO_A_PRODUCT: return product(m, s, a);
    case MO_A_POWER:
    case MO_A_RELATION:
        return mo_operate(m, s, (mo_operator)a->op[0], mo_evaluate(m, s, a->item[0]),
                          mo_evaluate(m, s, a->item[1]), a->place);
    case MO_A_AND:
    case MO_A_OR: return logic(m, s, a);
    case MO_A_NOT: return negation(m, s, a);
    case MO_A_IF: return conditional(m, s, a);
    case MO_A_RANGE: return range(m, s, a);
    case MO_A_ARRAY: return array(m, s, a);
    case MO_A_MATRIX:
    case MO_A_ROW: return beside(m, s, a, 0);
    case MO_A_TUPLE: return tuple(m, s, a);
    case MO_A_INDEX:
        return mo_subscript(m, s, mo_evaluate(m, s, a->item[0]), a->item + 1, a->count - 1,
                            a->place);
    case MO_A_FIELD: return mo_select(m, s, mo_evaluate(m, s, a->item[0]), a->text, a->place);
    case MO_A_COLON: break;
    case MO_A_END: return last_index(m, s, a);
    }
    mo_value *v = mo_none(m);
    v->kind = MO_V_COLON;
    return v;
}

mo_value *mo_evaluate(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    m->work++;
    m->context->now = a->place;
    if (m->work > m->work_limit)
        mo_fatal_hint(m->context, DAE_E_LIMIT, a->place,
                      "look for loops and recursion without end, or raise the limit (--max-work)",
                      "more than %.0f expressions were evaluated", m->work_limit);
    uintptr_t now = MO_STACK_NOW, base = m->stack_base;
    if ((now < base ? base - now : now - base) > m->stack_room)
        mo_fatal_hint(
            m->context, DAE_E_LIMIT, a->place,
            "shorten the chain, or give the program a larger stack (ulimit -s)",
            "a chain of %d expressions that need each other is too long for the program's "
            "stack",
            m->depth);
    if (++m->depth > 20 * MO_MAX_DEPTH)
        mo_fatal_hint(m->context, DAE_E_LIMIT, a->place, "look for a recursion without end",
                      "expressions and functions are nested more than %d deep", 20 * MO_MAX_DEPTH);
    mo_value *v = dispatch(m, s, a);
    m->depth--;
    return v;
}
