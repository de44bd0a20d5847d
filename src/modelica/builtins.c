/* builtins.c: the functions that are part of the language. */
#include "modelica/builtins.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

mo_value *mo_wrong_call(mo_call *c, const char *why)
{
    mo_error(c->m->context, DAE_E_MODEL, c->a->place, "'%s': %s", c->row->name, why);
    mo_hint(c->m->context, "the function is %s", c->row->usage);
    return mo_none(c->m);
}

bool mo_are_scalars(const mo_value *v)
{
    return v->kind == MO_V_SCALAR || (v->kind == MO_V_ARRAY && v->element);
}

bool mo_are_numbers(const mo_value *v)
{
    return mo_are_scalars(v) && (v->type == EX_REAL || v->type == EX_INTEGER);
}

bool mo_known_integer(mo_call *c, size_t i, int *out)
{
    double x;
    uint32_t culprit;
    mo_value *v = c->argument[i];
    if (v->kind != MO_V_SCALAR || (v->type != EX_INTEGER && v->type != EX_ENUMERATION) ||
        !mo_evaluate_number(c->m, v->scalar, &x, &culprit)) {
        mo_wrong_call(c, "an argument must be an Integer known before the simulation");
        return false;
    }
    if (fabs(x) > 2e9)
        mo_fatal_hint(c->m->context, DAE_E_LIMIT, c->a->place, "use a smaller number",
                      "%.0f is too large", x);
    *out = (int)x;
    return true;
}

/* ------------------------------------------------------------------ mathematics ------ */

typedef struct flagged_op {
    ex_op op;
    unsigned flags;
} flagged_op;

/* Of what is whole, floor and its like have nothing to jump at: the hysteresis of an event would hold
 * ceil(u) + 1 on the wrong side. */
static ex_id apply(mo_model *m, ex_id e, void *user)
{
    const flagged_op *f = user;
    return ex_unary_flagged(m->graph, f->op, e, ex_is_whole(m->graph, e) ? 0 : f->flags);
}

static unsigned event_flag(const mo_call *c)
{
    bool jumps = c->row->op == EX_FLOOR || c->row->op == EX_CEIL || c->row->op == EX_INTEGER_OF ||
                 c->row->op == EX_DIV || c->row->op == EX_MOD || c->row->op == EX_REM;
    return jumps && !c->s->no_event ? EX_EVENT : 0;
}

static mo_value *unary(mo_call *c)
{
    mo_value *v = c->argument[0];
    if (c->row->op == EX_INTEGER_OF && v->kind == MO_V_SCALAR && v->type == EX_ENUMERATION)
        return mo_scalar(c->m, ex_unary(c->m->graph, EX_INTEGER_OF, v->scalar), EX_INTEGER, NULL);
    if (v->kind == MO_V_RECORD || v->kind == MO_V_OBJECT) {
        mo_value *r = mo_overloaded(c->m, c->s, c->row->name, &v, 1, c->a->place);
        if (r) return r;
    }
    if (!mo_are_numbers(v)) return mo_wrong_call(c, "the argument must be a number");
    flagged_op f = { c->row->op, v->type == EX_REAL ? event_flag(c) : 0 };
    ex_type type = c->row->op == EX_ABS ? v->type : c->row->type;
    return mo_map(c->m, v, type, apply, &f);
}

static ex_id apply_two(mo_call *c, ex_id a, ex_id b)
{
    ex_graph *g = c->m->graph;
    unsigned flags = ex_is_whole(g, a) && ex_is_whole(g, b) ? 0 : event_flag(c);
    return ex_binary_flagged(g, c->row->op, a, b, flags);
}

static mo_value *binary(mo_call *c)
{
    mo_value *a = c->argument[0], *b = c->argument[1];
    if (!mo_are_numbers(a) || !mo_are_numbers(b))
        return mo_wrong_call(c, "the arguments must be numbers");
    bool both = a->kind == MO_V_ARRAY && b->kind == MO_V_ARRAY;
    if (both && !mo_same_sizes(a, b)) return mo_wrong_call(c, "the sizes of the arguments differ");
    bool whole = a->type == EX_INTEGER && b->type == EX_INTEGER;
    ex_type type = c->row->op == EX_ATAN2 ? EX_REAL : whole ? EX_INTEGER : EX_REAL;
    const mo_value *shape = a->kind == MO_V_ARRAY ? a : b;
    if (shape->kind != MO_V_ARRAY)
        return mo_scalar(c->m, apply_two(c, a->scalar, b->scalar), type, NULL);
    mo_value *r = mo_new_array(c->m, shape->dimensions, shape->size, type);
    for (size_t i = 0; i < r->count; i++)
        r->element[i] = apply_two(c, a->kind == MO_V_ARRAY ? a->element[i] : a->scalar,
                                  b->kind == MO_V_ARRAY ? b->element[i] : b->scalar);
    return r;
}

static mo_value *semi_linear(mo_call *c)
{
    ex_graph *g = c->m->graph;
    const mo_value *shape = NULL;
    for (int i = 0; i < 3; i++) {
        if (!mo_are_numbers(c->argument[i]))
            return mo_wrong_call(c, "the arguments must be numbers");
        if (c->argument[i]->kind != MO_V_ARRAY) continue;
        if (shape && !mo_same_sizes(shape, c->argument[i]))
            return mo_wrong_call(c, "the sizes of the arguments differ");
        shape = c->argument[i];
    }
    mo_value *all = shape ? mo_new_array(c->m, shape->dimensions, shape->size, EX_REAL) : NULL;
    for (size_t k = 0; k < (shape ? shape->count : 1); k++) {
        ex_id one[3];
        for (int i = 0; i < 3; i++) one[i] = mo_item_at(c->m, c->argument[i], k)->scalar;
        ex_id positive = ex_binary_flagged(g, EX_LESS_EQUAL, ex_number(g, 0), one[0],
                                           c->s->no_event ? 0 : EX_EVENT);
        ex_id y = ex_binary(g, EX_MULTIPLY, ex_if(g, positive, one[1], one[2]), one[0]);
        if (!shape) return mo_scalar(c->m, y, EX_REAL, NULL);
        all->element[k] = y;
    }
    return all;
}

/* ------------------------------------------------------------------ reductions ------- */

/* What an empty array gives; of min the largest value of the type, of max the smallest. */
static mo_value *neutral(mo_call *c, const mo_value *v)
{
    ex_op op = c->row->op;
    bool least = op == EX_MAX, extreme = least || op == EX_MIN;
    double x = op == EX_ADD ? 0 : op == EX_MULTIPLY ? 1 : least ? -1e60 : 1e60;
    if (extreme && v->type == EX_ENUMERATION && v->view)
        return mo_literal(c->m, v->view, least ? 1 : v->view->def->literals);
    if (extreme && v->type == EX_INTEGER)
        x = (double)(least ? -EX_LARGEST_INTEGER : EX_LARGEST_INTEGER);
    if (extreme && v->type == EX_BOOLEAN) x = !least;
    return mo_scalar(c->m, ex_constant(c->m->graph, x, v->type), v->type, v->view);
}

static mo_value *reduce(mo_call *c, mo_value *v)
{
    if (v->kind == MO_V_SCALAR && mo_are_numbers(v)) return v;
    bool ordered = (c->row->op == EX_MIN || c->row->op == EX_MAX) && mo_are_scalars(v) &&
                   (v->type == EX_BOOLEAN || v->type == EX_ENUMERATION);
    if (v->kind == MO_V_ARRAY && v->item && v->count) { /* of records with operators */
        mo_value *sum = v->item[0];
        for (size_t i = 1; i < v->count; i++)
            sum = mo_operate(c->m, c->s, c->row->op == EX_MULTIPLY ? MO_TIMES : MO_PLUS, sum,
                             v->item[i], c->a->place);
        return sum;
    }
    if (!mo_are_numbers(v) && !ordered)
        return mo_wrong_call(c, "the argument must be an array of numbers");
    if (!v->count) return neutral(c, v);
    ex_id e = v->element[0];
    for (size_t i = 1; i < v->count; i++) e = ex_binary(c->m->graph, c->row->op, e, v->element[i]);
    return mo_scalar(c->m, e, v->type, v->view);
}

/* sum(e for i in r): the array {e for i in r} reduced */
static mo_value *reduction(mo_call *c)
{
    mo_value *v = c->argument[0];
    if (c->count == 2 && (c->row->op == EX_MIN || c->row->op == EX_MAX)) {
        if (!mo_are_scalars(v) || !mo_are_scalars(c->argument[1]) || v->kind != MO_V_SCALAR ||
            c->argument[1]->kind != MO_V_SCALAR)
            return mo_wrong_call(c, "two arguments must be scalars");
        ex_type type = v->type == EX_REAL || c->argument[1]->type == EX_REAL ? EX_REAL : v->type;
        return mo_scalar(c->m,
                         ex_binary(c->m->graph, c->row->op, v->scalar, c->argument[1]->scalar),
                         type, v->view);
    }
    if (c->count != 1) return mo_wrong_call(c, "it takes one array, or an expression with 'for'");
    return reduce(c, v);
}

/* ------------------------------------------------------------------ time ------------- */

static ex_id rate(ex_graph *g, ex_id leaf, void *user)
{
    mo_model *m = user;
    const ex_node node = *ex_at(g, leaf);
    if (node.op == EX_TIME) return ex_number(g, 1);
    if (node.op == EX_VARIABLE && node.type == EX_REAL &&
        m->flat->variable[node.a].variability == FLAT_CONTINUOUS)
        return ex_variable(g, node.a, node.b + 1, EX_REAL);
    return ex_number(g, 0);
}

mo_value *mo_time_derivative(mo_model *m, mo_value *v, mo_place place)
{
    if (v->kind == MO_V_NONE) return v;
    bool fixed = v->member && v->member->variability <= MO_PARAMETER; /* an Integer: der is 0 */
    if (!mo_are_numbers(v) || (v->type != EX_REAL && !fixed)) {
        double x;
        if (mo_constant_number(m, v, &x)) return mo_real(m, 0);
        mo_error(m->context, DAE_E_MODEL, place, "der() of %s", mo_shape(m, v));
        mo_hint(m->context, "only Real variables have a derivative");
        return mo_none(m);
    }
    size_t count = v->kind == MO_V_ARRAY ? v->count : 1;
    ex_id *e = dae_arena_take(&m->context->arena, count + 1, sizeof *e), culprit = 0;
    bool plain = true;
    for (size_t i = 0; i < count; i++) {
        e[i] = v->kind == MO_V_ARRAY ? v->element[i] : v->scalar;
        plain &= ex_at(m->graph, e[i])->op == EX_VARIABLE;
    }
    if (plain)
        for (size_t i = 0; i < count; i++) e[i] = rate(m->graph, e[i], m);
    else
        ex_time_derivatives(m->graph, e, count, rate, m, &culprit);
    if (culprit) {
        mo_error(m->context, DAE_E_UNSUPPORTED, place, "this expression cannot be differentiated");
        mo_why(m->context, "it contains %s", ex_print(m->graph, culprit, flat_name, m->flat, 60));
        mo_hint(m->context, "give the expression a name and differentiate by hand");
        return mo_none(m);
    }
    if (v->kind == MO_V_SCALAR) return mo_scalar(m, e[0], EX_REAL, NULL);
    mo_value *r = mo_new_array(m, v->dimensions, v->size, EX_REAL);
    memcpy(r->element, e, count * sizeof *e);
    return r;
}

static mo_value *derivative(mo_call *c)
{
    if (c->s->run && !c->s->object) return mo_wrong_call(c, "functions cannot use der()");
    return mo_time_derivative(c->m, c->argument[0], c->a->place);
}

static ex_id before(mo_model *m, ex_id e, void *user)
{
    bool *fine = user;
    const ex_node node = *ex_at(m->graph, e);
    if (node.op == EX_NUMBER || node.op == EX_TEXT) return e;
    if (node.op != EX_VARIABLE || node.b) {
        *fine = false;
        return e;
    }
    if (m->flat->variable[node.a].variability <= FLAT_PARAMETER) return e;
    return ex_leaf(m->graph, EX_PRE, node.a, 0, 0, (ex_type)node.type);
}

static mo_value *pre(mo_call *c)
{
    bool fine = mo_are_scalars(c->argument[0]);
    mo_value *v = fine ? mo_map(c->m, c->argument[0], c->argument[0]->type, before, &fine) : NULL;
    return fine ? v : mo_wrong_call(c, "the argument must be a variable");
}

static mo_value *event_test(mo_call *c) /* edge, change */
{
    mo_value *v = c->argument[0];
    if (v->kind != MO_V_SCALAR || (c->row->op == EX_EDGE && v->type != EX_BOOLEAN))
        return mo_wrong_call(c, "the argument must be a discrete scalar");
    return mo_scalar(c->m, ex_unary(c->m->graph, c->row->op, v->scalar), EX_BOOLEAN, NULL);
}

static mo_value *phase(mo_call *c) /* initial(), terminal() */
{
    return mo_scalar(c->m, ex_leaf(c->m->graph, c->row->op, 0, 0, 0, EX_BOOLEAN), EX_BOOLEAN, NULL);
}

static mo_value *sample(mo_call *c)
{
    if (c->count == 1) { /* sample(u), sample(u, clock): of a value, at the ticks of a clock */
        mo_error(c->m->context, DAE_E_UNSUPPORTED, c->a->place,
                 "clocks are not supported yet: sample(u)");
        mo_hint(c->m->context, "%s", MO_NO_CLOCKS);
        return mo_none(c->m);
    }
    if (c->argument[0]->kind != MO_V_SCALAR || c->argument[1]->kind != MO_V_SCALAR ||
        !mo_are_numbers(c->argument[0]) || !mo_are_numbers(c->argument[1]))
        return mo_wrong_call(c, "start and interval must be numbers");
    uint32_t number = (uint32_t)c->m->graph->samplers++;
    return mo_scalar(c->m,
                     ex_leaf(c->m->graph, EX_SAMPLE, c->argument[0]->scalar, c->argument[1]->scalar,
                             number, EX_BOOLEAN),
                     EX_BOOLEAN, NULL);
}

static mo_value *no_event(mo_call *c)
{
    mo_scope quiet = *c->s;
    quiet.no_event = true;
    return mo_evaluate(c->m, &quiet, c->a->item[0]);
}

/* An expression that is smooth to order p >= 1 needs no events. */
static mo_value *smooth(mo_call *c)
{
    mo_value *p = mo_evaluate(c->m, c->s, c->a->item[0]);
    double order;
    uint32_t culprit;
    if (p->kind != MO_V_SCALAR || !mo_evaluate_number(c->m, p->scalar, &order, &culprit))
        return mo_wrong_call(c, "the order must be a known Integer");
    mo_scope quiet = *c->s;
    quiet.no_event |= order >= 1;
    return mo_evaluate(c->m, &quiet, c->a->item[1]);
}

static mo_value *homotopy(mo_call *c)
{
    mo_value *actual = c->argument[0], *simple = c->argument[1];
    for (size_t i = 0; i < c->count && c->a->call.label; i++) {
        const char *label = c->a->call.label[i];
        if (label && strcmp(label, "actual") == 0)
            actual = c->argument[i];
        else if (label && strcmp(label, "simplified") == 0)
            simple = c->argument[i];
    }
    if (!mo_are_numbers(actual) || !mo_are_numbers(simple) || !mo_same_sizes(actual, simple))
        return mo_wrong_call(c, "the arguments must be numbers of the same size");
    if (actual->kind == MO_V_SCALAR)
        return mo_scalar(c->m, ex_binary(c->m->graph, EX_HOMOTOPY, actual->scalar, simple->scalar),
                         EX_REAL, NULL);
    mo_value *r = mo_new_array(c->m, actual->dimensions, actual->size, EX_REAL);
    for (size_t i = 0; i < r->count; i++)
        r->element[i] = ex_binary(c->m->graph, EX_HOMOTOPY, actual->element[i], simple->element[i]);
    return r;
}

static mo_value *delay(mo_call *c)
{
    mo_value *e = c->argument[0];
    ex_id longest = c->argument[c->count - 1]->scalar;
    for (size_t i = 1; i < c->count; i++)
        if (c->argument[i]->kind != MO_V_SCALAR || !mo_are_numbers(c->argument[i]))
            return mo_wrong_call(c, "the delay must be a number");
    if (!mo_are_numbers(e) || e->kind != MO_V_SCALAR)
        return mo_wrong_call(c, "the delayed expression must be a scalar number");
    return mo_scalar(c->m,
                     ex_ternary(c->m->graph, EX_DELAY, e->scalar, c->argument[1]->scalar, longest),
                     EX_REAL, NULL);
}

/* ------------------------------------------------------------------ the rest --------- */

static mo_value *to_string(mo_call *c)
{
    return mo_text_of(c->m, c->s, c->a, c->argument, c->count);
}

static mo_value *to_integer(mo_call *c) /* Integer(enumeration) */
{
    mo_value *v = c->argument[0];
    if (v->kind != MO_V_SCALAR || (v->type != EX_ENUMERATION && v->type != EX_INTEGER))
        return mo_wrong_call(c,
                             "the argument must be an enumeration value; integer(x) rounds down");
    double x;
    if (ex_is_number(c->m->graph, v->scalar, &x)) return mo_integer(c->m, x);
    return mo_scalar(
        c->m, v->type == EX_INTEGER ? v->scalar : ex_unary(c->m->graph, EX_INTEGER_OF, v->scalar),
        EX_INTEGER, NULL);
}

static mo_value *instance_name(mo_call *c)
{
    const char *name = c->s->object ? c->s->object->name : "";
    return mo_string(c->m, dae_arena_print(&c->m->context->arena, "%s%s%s", c->m->flat->name,
                                           name[0] ? "." : "", name));
}

static mo_value *cardinality(mo_call *c);

static mo_value *is_present(mo_call *c)
{
    return mo_boolean(c->m, c->argument[0]->kind != MO_V_NONE);
}

static mo_value *unsupported(mo_call *c)
{
    mo_error(c->m->context, DAE_E_UNSUPPORTED, c->a->place, "'%s' is not supported yet",
             c->row->name);
    mo_hint(c->m->context, "%s", c->row->usage);
    return mo_none(c->m);
}

static mo_value *rooted(mo_call *c)
{
    return mo_connections_query(c->m, c->s, c->a, "rooted");
}

static mo_value *as_clause(mo_call *c)
{
    mo_error(c->m->context, DAE_E_MODEL, c->a->place, "'%s' has no value", c->row->name);
    mo_hint(c->m->context, "write it as an equation or statement of its own: %s;", c->row->usage);
    return mo_none(c->m);
}

#define MACHINES "state machines are read, but not simulated: write the model without them"

static const mo_builtin_row table[] = {
    { "abs", unary, 1, 1, EX_ABS, EX_REAL, false, "abs(x)" },
    { "sign", unary, 1, 1, EX_SIGN, EX_INTEGER, false, "sign(x)" },
    { "sqrt", unary, 1, 1, EX_SQRT, EX_REAL, false, "sqrt(x)" },
    { "sin", unary, 1, 1, EX_SIN, EX_REAL, false, "sin(x)" },
    { "cos", unary, 1, 1, EX_COS, EX_REAL, false, "cos(x)" },
    { "tan", unary, 1, 1, EX_TAN, EX_REAL, false, "tan(x)" },
    { "asin", unary, 1, 1, EX_ASIN, EX_REAL, false, "asin(x)" },
    { "acos", unary, 1, 1, EX_ACOS, EX_REAL, false, "acos(x)" },
    { "atan", unary, 1, 1, EX_ATAN, EX_REAL, false, "atan(x)" },
    { "sinh", unary, 1, 1, EX_SINH, EX_REAL, false, "sinh(x)" },
    { "cosh", unary, 1, 1, EX_COSH, EX_REAL, false, "cosh(x)" },
    { "tanh", unary, 1, 1, EX_TANH, EX_REAL, false, "tanh(x)" },
    { "exp", unary, 1, 1, EX_EXP, EX_REAL, false, "exp(x)" },
    { "log", unary, 1, 1, EX_LOG, EX_REAL, false, "log(x)" },
    { "log10", unary, 1, 1, EX_LOG10, EX_REAL, false, "log10(x)" },
    { "ceil", unary, 1, 1, EX_CEIL, EX_REAL, false, "ceil(x)" },
    { "floor", unary, 1, 1, EX_FLOOR, EX_REAL, false, "floor(x)" },
    { "integer", unary, 1, 1, EX_INTEGER_OF, EX_INTEGER, false, "integer(x)" },
    { "atan2", binary, 2, 2, EX_ATAN2, EX_REAL, false, "atan2(y, x)" },
    { "div", binary, 2, 2, EX_DIV, EX_REAL, false, "div(x, y)" },
    { "mod", binary, 2, 2, EX_MOD, EX_REAL, false, "mod(x, y)" },
    { "rem", binary, 2, 2, EX_REM, EX_REAL, false, "rem(x, y)" },
    { "semiLinear", semi_linear, 3, 3, EX_NONE, EX_REAL, false, "semiLinear(x, k1, k2)" },
    { "sum", reduction, 1, 1, EX_ADD, EX_REAL, false, "sum(array) or sum(e for i in r)" },
    { "product", reduction, 1, 1, EX_MULTIPLY, EX_REAL, false, "product(array)" },
    { "min", reduction, 1, 2, EX_MIN, EX_REAL, false, "min(x, y) or min(array)" },
    { "max", reduction, 1, 2, EX_MAX, EX_REAL, false, "max(x, y) or max(array)" },
    { "size", mo_builtin_size_of, 1, 2, EX_NONE, EX_REAL, false, "size(array, dimension)" },
    { "ndims", mo_builtin_dimensions_of, 1, 1, EX_NONE, EX_REAL, false, "ndims(array)" },
    { "fill", mo_builtin_fill, 1, -1, EX_NONE, EX_REAL, false, "fill(value, n, ...)" },
    { "zeros", mo_builtin_zeros, 1, -1, EX_NONE, EX_REAL, false, "zeros(n, ...)" },
    { "ones", mo_builtin_ones, 1, -1, EX_NONE, EX_REAL, false, "ones(n, ...)" },
    { "identity", mo_builtin_identity, 1, 1, EX_NONE, EX_REAL, false, "identity(n)" },
    { "diagonal", mo_builtin_diagonal, 1, 1, EX_NONE, EX_REAL, false, "diagonal(vector)" },
    { "linspace", mo_builtin_linspace, 3, 3, EX_NONE, EX_REAL, false, "linspace(from, to, n)" },
    { "transpose", mo_builtin_transpose, 1, 1, EX_NONE, EX_REAL, false, "transpose(matrix)" },
    { "outerProduct", mo_builtin_outer_product, 2, 2, EX_NONE, EX_REAL, false,
      "outerProduct(v, w)" },
    { "symmetric", mo_builtin_symmetric, 1, 1, EX_NONE, EX_REAL, false, "symmetric(matrix)" },
    { "cross", mo_builtin_cross, 2, 2, EX_NONE, EX_REAL, false, "cross(v, w)" },
    { "skew", mo_builtin_skew, 1, 1, EX_NONE, EX_REAL, false, "skew(v)" },
    { "scalar", mo_builtin_to_scalar, 1, 1, EX_NONE, EX_REAL, false, "scalar(array)" },
    { "vector", mo_builtin_to_vector, 1, 1, EX_NONE, EX_REAL, false, "vector(array)" },
    { "matrix", mo_builtin_to_matrix, 1, 1, EX_NONE, EX_REAL, false, "matrix(array)" },
    { "promote", mo_builtin_promote, 2, 2, EX_NONE, EX_REAL, false, "promote(array, n)" },
    { "cat", mo_builtin_cat, 2, -1, EX_NONE, EX_REAL, false, "cat(dimension, a, b, ...)" },
    { "array", mo_builtin_make_array, 1, -1, EX_NONE, EX_REAL, false, "array(a, b, ...)" },
    { "der", derivative, 1, 1, EX_NONE, EX_REAL, false, "der(x)" },
    { "pre", pre, 1, 1, EX_NONE, EX_REAL, false, "pre(x)" },
    { "edge", event_test, 1, 1, EX_EDGE, EX_BOOLEAN, false, "edge(b)" },
    { "change", event_test, 1, 1, EX_CHANGE, EX_BOOLEAN, false, "change(v)" },
    { "initial", phase, 0, 0, EX_INITIAL, EX_BOOLEAN, false, "initial()" },
    { "terminal", phase, 0, 0, EX_TERMINAL, EX_BOOLEAN, false, "terminal()" },
    { "sample", sample, 1, 2, EX_NONE, EX_BOOLEAN, false, "sample(start, interval)" },
    { "noEvent", no_event, 1, 1, EX_NONE, EX_REAL, true, "noEvent(expression)" },
    { "smooth", smooth, 2, 2, EX_NONE, EX_REAL, true, "smooth(order, expression)" },
    { "homotopy", homotopy, 2, 2, EX_NONE, EX_REAL, false, "homotopy(actual, simplified)" },
    { "delay", delay, 2, 3, EX_NONE, EX_REAL, false, "delay(expression, time)" },
    { "String", to_string, 1, -1, EX_NONE, EX_STRING, false, "String(x)" },
    { "Integer", to_integer, 1, 1, EX_NONE, EX_INTEGER, false, "Integer(e)" },
    { "getInstanceName", instance_name, 0, 0, EX_NONE, EX_STRING, false, "getInstanceName()" },
    { "cardinality", cardinality, 1, 1, EX_NONE, EX_INTEGER, false, "cardinality(connector)" },
    { "isPresent", is_present, 1, 1, EX_NONE, EX_BOOLEAN, false, "isPresent(x)" },
    { "inStream", unsupported, 1, 1, EX_NONE, EX_REAL, true, "stream connectors come later" },
    { "actualStream", unsupported, 1, 1, EX_NONE, EX_REAL, true, "stream connectors come later" },
    { "spatialDistribution", unsupported, 1, -1, EX_NONE, EX_REAL, true,
      "write the transport as a PDE by lines" },
    { "Clock", unsupported, 0, -1, EX_NONE, EX_REAL, true, MO_NO_CLOCKS },
    { "hold", unsupported, 1, -1, EX_NONE, EX_REAL, true, MO_NO_CLOCKS },
    { "previous", unsupported, 1, -1, EX_NONE, EX_REAL, true, MO_NO_CLOCKS },
    { "subSample", unsupported, 1, -1, EX_NONE, EX_REAL, true, MO_NO_CLOCKS },
    { "superSample", unsupported, 1, -1, EX_NONE, EX_REAL, true, MO_NO_CLOCKS },
    { "shiftSample", unsupported, 1, -1, EX_NONE, EX_REAL, true, MO_NO_CLOCKS },
    { "backSample", unsupported, 1, -1, EX_NONE, EX_REAL, true, MO_NO_CLOCKS },
    { "noClock", unsupported, 1, -1, EX_NONE, EX_REAL, true, MO_NO_CLOCKS },
    { "firstTick", unsupported, 0, -1, EX_NONE, EX_BOOLEAN, true, MO_NO_CLOCKS },
    { "interval", unsupported, 0, -1, EX_NONE, EX_REAL, true, MO_NO_CLOCKS },
    { "initialState", unsupported, 1, 1, EX_NONE, EX_REAL, true, MACHINES },
    { "transition", unsupported, 1, -1, EX_NONE, EX_REAL, true, MACHINES },
    { "activeState", unsupported, 1, 1, EX_NONE, EX_BOOLEAN, true, MACHINES },
    { "ticksInState", unsupported, 0, -1, EX_NONE, EX_INTEGER, true, MACHINES },
    { "timeInState", unsupported, 0, -1, EX_NONE, EX_REAL, true, MACHINES },
    { "rooted", rooted, 1, 1, EX_NONE, EX_BOOLEAN, true, "Connections.rooted(frame.R)" },
    { "reinit", as_clause, 1, -1, EX_NONE, EX_REAL, true, "reinit(x, value)" },
    { "assert", as_clause, 1, -1, EX_NONE, EX_REAL, true, "assert(condition, message)" },
    { "terminate", as_clause, 1, -1, EX_NONE, EX_REAL, true, "terminate(message)" },
};
enum { BUILTINS = sizeof table / sizeof *table };

const char *const *mo_builtin_names(int *count)
{
    static const char *const names[] = {
        /* those worth proposing for a misspelt name */
        "abs",          "sign",     "sqrt",     "sin",      "cos",      "tan",        "asin",
        "acos",         "atan",     "atan2",    "sinh",     "cosh",     "tanh",       "exp",
        "log",          "log10",    "ceil",     "floor",    "integer",  "div",        "mod",
        "rem",          "sum",      "product",  "min",      "max",      "size",       "ndims",
        "fill",         "zeros",    "ones",     "identity", "diagonal", "linspace",   "transpose",
        "outerProduct", "cross",    "skew",     "scalar",   "vector",   "matrix",     "cat",
        "der",          "pre",      "edge",     "change",   "initial",  "terminal",   "sample",
        "noEvent",      "smooth",   "homotopy", "delay",    "String",   "semiLinear", "reinit",
        "assert",       "terminate"
    };
    *count = (int)(sizeof names / sizeof *names);
    return names;
}

static const mo_builtin_row *find(const char *name)
{
    for (size_t i = 0; i < BUILTINS; i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}

bool mo_is_builtin(const char *name)
{
    return find(name) != NULL;
}

/* How often one side of a connection, perhaps an array of connectors, is this connector. */
static int mentions(mo_model *m, mo_value *side, const mo_value *of)
{
    int count = 0;
    if (side->kind == MO_V_ARRAY)
        for (size_t i = 0; i < side->count; i++) count += mentions(m, mo_item_at(m, side, i), of);
    if (side->kind != of->kind) return count;
    return count + (side->kind == MO_V_OBJECT   ? side->object == of->object
                    : side->kind == MO_V_SCALAR ? side->scalar == of->scalar
                                                : 0);
}

/* How many connections a connector has: known once all connect clauses were read. */
static mo_value *cardinality(mo_call *c)
{
    int count = 0;
    for (size_t i = 0; i < c->m->connections; i++) {
        const mo_connection *n = &c->m->connection[i];
        count += mentions(c->m, n->left, c->argument[0]);
        count += mentions(c->m, n->right, c->argument[0]);
    }
    return mo_integer(c->m, count);
}

static mo_value *wrong_count(mo_call *c)
{
    const mo_builtin_row *row = c->row;
    int wanted = c->a->count < row->least ? row->least : row->most;
    const char *bound = row->least == row->most ? ""
                        : wanted == row->least  ? "at least "
                                                : "at most ";
    mo_error(c->m->context, DAE_E_MODEL, c->a->place, "'%s' takes %s%d argument%s, not %d",
             row->name, bound, wanted, wanted == 1 ? "" : "s", c->a->count);
    mo_hint(c->m->context,
            strcmp(row->name, "der") == 0 && c->a->count == 2
                ? "the function is %s; a second derivative is der(der(x))"
                : "the function is %s",
            row->usage);
    return mo_none(c->m);
}

mo_value *mo_builtin(mo_model *m, const mo_scope *s, const mo_ast *a, const char *name, bool *found)
{
    const mo_builtin_row *row = find(name);
    *found = row != NULL;
    if (!row) return NULL;
    mo_call c = { .m = m, .s = s, .a = a, .row = row, .count = (size_t)a->count };
    if (a->count < row->least || (row->most >= 0 && a->count > row->most)) return wrong_count(&c);
    if (row->raw) return row->run(&c);
    mo_value *early = row->run == mo_builtin_size_of ? mo_builtin_size_so_far(m, s, a) : NULL;
    if (early) return early;
    c.argument = dae_arena_take(&m->context->arena, c.count + 1, sizeof *c.argument);
    if (a->call.iterators) {
        mo_ast list = { .kind = MO_A_ARRAY, .count = 1, .item = a->item, .place = a->place };
        list.call = a->call;
        c.argument[0] = mo_evaluate(m, s, &list);
        if (c.argument[0]->kind == MO_V_ARRAY && row->run == reduction) {
            mo_value *flat = c.argument[0]; /* sum(vector for i): adds the vectors */
            if (flat->dimensions > a->call.iterators && row->op == EX_ADD) {
                mo_value *sum_ = mo_row(m, flat, 0);
                for (int i = 1; i < flat->size[0]; i++)
                    sum_ = mo_operate(m, s, MO_PLUS, sum_, mo_row(m, flat, i), a->place);
                return sum_;
            }
        }
        if (row->run == mo_builtin_make_array) return c.argument[0];
    } else
        for (int i = 0; i < a->count; i++) c.argument[i] = mo_evaluate(m, s, a->item[i]);
    for (size_t i = 0; i < c.count; i++)
        if (c.argument[i]->kind == MO_V_NONE && row->run != is_present) return c.argument[i];
    return row->run(&c);
}
