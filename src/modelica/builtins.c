/* builtins.c: the functions that are part of the language. */
#include "modelica/instance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct builtin builtin;
typedef struct call {
    mo_model *m;
    const mo_scope *s;
    const mo_ast *a;
    const builtin *row;
    mo_value **argument; /* evaluated, unless the row says otherwise */
    size_t count;
} call;

struct builtin {
    const char *name;
    mo_value *(*run)(call *c);
    int least, most;   /* arguments; most -1: any number */
    ex_op op;
    ex_type type;
    bool raw;          /* evaluates its arguments itself  */
    const char *usage;
};

static mo_value *wrong(call *c, const char *why)
{
    mo_error(c->m->context, DAE_E_MODEL, c->a->place, "'%s': %s", c->row->name, why);
    mo_hint(c->m->context, "the function is %s", c->row->usage);
    return mo_none(c->m);
}

static bool scalars(const mo_value *v)
{
    return v->kind == MO_V_SCALAR || (v->kind == MO_V_ARRAY && v->element);
}

static bool numbers(const mo_value *v)
{
    return scalars(v) && (v->type == EX_REAL || v->type == EX_INTEGER);
}

static bool known_integer(call *c, size_t i, int *out)
{
    double x;
    uint32_t culprit;
    mo_value *v = c->argument[i];
    if (v->kind != MO_V_SCALAR || (v->type != EX_INTEGER && v->type != EX_ENUMERATION) ||
        !mo_evaluate_number(c->m, v->scalar, &x, &culprit)) {
        wrong(c, "an argument must be an Integer known before the simulation");
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

static unsigned event_flag(const call *c)
{
    bool jumps = c->row->op == EX_FLOOR || c->row->op == EX_CEIL || c->row->op == EX_INTEGER_OF ||
                 c->row->op == EX_DIV || c->row->op == EX_MOD || c->row->op == EX_REM;
    return jumps && !c->s->no_event ? EX_EVENT : 0;
}

static mo_value *unary(call *c)
{
    mo_value *v = c->argument[0];
    if (c->row->op == EX_INTEGER_OF && v->kind == MO_V_SCALAR && v->type == EX_ENUMERATION)
        return mo_scalar(c->m, ex_unary(c->m->graph, EX_INTEGER_OF, v->scalar), EX_INTEGER, NULL);
    if (v->kind == MO_V_RECORD || v->kind == MO_V_OBJECT) {
        mo_value *r = mo_overloaded(c->m, c->s, c->row->name, &v, 1, c->a->place);
        if (r)
            return r;
    }
    if (!numbers(v))
        return wrong(c, "the argument must be a number");
    flagged_op f = { c->row->op, v->type == EX_REAL ? event_flag(c) : 0 };
    ex_type type = c->row->op == EX_ABS ? v->type : c->row->type;
    return mo_map(c->m, v, type, apply, &f);
}

static ex_id apply_two(call *c, ex_id a, ex_id b)
{
    ex_graph *g = c->m->graph;
    unsigned flags = ex_is_whole(g, a) && ex_is_whole(g, b) ? 0 : event_flag(c);
    return ex_binary_flagged(g, c->row->op, a, b, flags);
}

static mo_value *binary(call *c)
{
    mo_value *a = c->argument[0], *b = c->argument[1];
    if (!numbers(a) || !numbers(b))
        return wrong(c, "the arguments must be numbers");
    bool both = a->kind == MO_V_ARRAY && b->kind == MO_V_ARRAY;
    if (both && !mo_same_sizes(a, b))
        return wrong(c, "the sizes of the arguments differ");
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

static mo_value *semi_linear(call *c)
{
    ex_graph *g = c->m->graph;
    const mo_value *shape = NULL;
    for (int i = 0; i < 3; i++) {
        if (!numbers(c->argument[i]))
            return wrong(c, "the arguments must be numbers");
        if (c->argument[i]->kind != MO_V_ARRAY)
            continue;
        if (shape && !mo_same_sizes(shape, c->argument[i]))
            return wrong(c, "the sizes of the arguments differ");
        shape = c->argument[i];
    }
    mo_value *all = shape ? mo_new_array(c->m, shape->dimensions, shape->size, EX_REAL) : NULL;
    for (size_t k = 0; k < (shape ? shape->count : 1); k++) {
        ex_id one[3];
        for (int i = 0; i < 3; i++)
            one[i] = mo_item_at(c->m, c->argument[i], k)->scalar;
        ex_id positive = ex_binary_flagged(g, EX_LESS_EQUAL, ex_number(g, 0), one[0],
                                           c->s->no_event ? 0 : EX_EVENT);
        ex_id y = ex_binary(g, EX_MULTIPLY, ex_if(g, positive, one[1], one[2]), one[0]);
        if (!shape)
            return mo_scalar(c->m, y, EX_REAL, NULL);
        all->element[k] = y;
    }
    return all;
}

/* ------------------------------------------------------------------ reductions ------- */

static ex_id neutral(call *c, ex_type type)
{
    ex_op op = c->row->op;
    double x = op == EX_ADD ? 0 : op == EX_MULTIPLY ? 1 : op == EX_MIN ? 1e60 : -1e60;
    if (type == EX_INTEGER && fabs(x) > 10)
        x = op == EX_MIN ? 2147483647.0 : -2147483647.0;
    return ex_constant(c->m->graph, x, type);
}

static mo_value *reduce(call *c, mo_value *v)
{
    if (v->kind == MO_V_SCALAR && numbers(v))
        return v;
    bool ordered = (c->row->op == EX_MIN || c->row->op == EX_MAX) && scalars(v) &&
                   (v->type == EX_BOOLEAN || v->type == EX_ENUMERATION);
    if (v->kind == MO_V_ARRAY && v->item && v->count) { /* of records with operators */
        mo_value *sum = v->item[0];
        for (size_t i = 1; i < v->count; i++)
            sum = mo_operate(c->m, c->s, c->row->op == EX_MULTIPLY ? MO_TIMES : MO_PLUS, sum,
                             v->item[i], c->a->place);
        return sum;
    }
    if (!numbers(v) && !ordered)
        return wrong(c, "the argument must be an array of numbers");
    ex_id e = v->count ? v->element[0] : neutral(c, v->type);
    for (size_t i = 1; i < v->count; i++)
        e = ex_binary(c->m->graph, c->row->op, e, v->element[i]);
    return mo_scalar(c->m, e, v->type, v->view);
}

/* sum(e for i in r): the array {e for i in r} reduced */
static mo_value *reduction(call *c)
{
    mo_value *v = c->argument[0];
    if (c->count == 2 && (c->row->op == EX_MIN || c->row->op == EX_MAX)) {
        if (!scalars(v) || !scalars(c->argument[1]) || v->kind != MO_V_SCALAR ||
            c->argument[1]->kind != MO_V_SCALAR)
            return wrong(c, "two arguments must be scalars");
        ex_type type = v->type == EX_REAL || c->argument[1]->type == EX_REAL ? EX_REAL : v->type;
        return mo_scalar(c->m, ex_binary(c->m->graph, c->row->op, v->scalar, c->argument[1]->scalar),
                         type, v->view);
    }
    if (c->count != 1)
        return wrong(c, "it takes one array, or an expression with 'for'");
    return reduce(c, v);
}

/* ------------------------------------------------------------------ arrays ----------- */

static mo_value *size_of(call *c)
{
    mo_value *v = c->argument[0];
    int dimensions = v->kind == MO_V_ARRAY ? v->dimensions : 0;
    if (c->count == 2) {
        int d;
        if (!known_integer(c, 1, &d))
            return mo_none(c->m);
        if (d < 1 || d > dimensions)
            return wrong(c, dae_arena_print(&c->m->context->arena,
                                            "there is no dimension %d in %s", d, mo_shape(c->m, v)));
        return mo_integer(c->m, v->size[d - 1]);
    }
    mo_value *r = mo_new_array(c->m, 1, &dimensions, EX_INTEGER);
    for (int d = 0; d < dimensions; d++)
        r->element[d] = ex_constant(c->m->graph, v->size[d], EX_INTEGER);
    return r;
}

/* Real A[:, size(A, 1)]: the array does not exist yet, but its first sizes are known. NULL: it is
 * about something else. */
static mo_value *size_so_far(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    const mo_member *array = m->sizing;
    if (!array || a->count != 2 || a->item[0]->kind != MO_A_REFERENCE || s->object != array->object)
        return NULL;
    const mo_reference *r = a->item[0]->call.reference;
    int d;
    if (r->parts != 1 || r->part[0].subscripts || r->part[0].name != array->entry->name ||
        mo_find_env(s->env, r->part[0].name) ||
        !mo_need_integer(m, s, a->item[1], "the dimension", &d) || d < 1 || d > array->dimensions)
        return NULL;
    return mo_integer(m, array->size[d - 1]);
}

static mo_value *dimensions_of(call *c)
{
    mo_value *v = c->argument[0];
    return mo_integer(c->m, v->kind == MO_V_ARRAY ? v->dimensions : 0);
}

static mo_value *filled(call *c, mo_value *with, size_t first)
{
    int n = (int)(c->count - first);
    int *size = dae_arena_take(&c->m->context->arena, (size_t)n + 1, sizeof *size);
    double count = 1;
    for (int d = 0; d < n; d++) {
        if (!known_integer(c, first + (size_t)d, &size[d]))
            return mo_none(c->m);
        if (size[d] < 0)
            return wrong(c, "a size is negative");
        count *= size[d];
    }
    if (count > MO_MAX_VARIABLES)
        mo_fatal_hint(c->m->context, DAE_E_LIMIT, c->a->place, "make the array smaller",
                      "an array of %.0f elements; %.0f are possible", count, MO_MAX_VARIABLES);
    if (with->kind == MO_V_ARRAY) { /* fill({1, 2}, n) */
        size_t rows = (size_t)count;
        mo_value **item = dae_arena_take(&c->m->context->arena, rows + 1, sizeof *item);
        for (size_t i = 0; i < rows; i++)
            item[i] = with;
        return n == 1 ? mo_stack(c->m, item, rows, c->a->place)
                      : wrong(c, "arrays can be repeated in one dimension only");
    }
    bool plain = with->kind == MO_V_SCALAR;
    mo_value *r = plain ? mo_new_array(c->m, n, size, with->type) : mo_new_items(c->m, n, size);
    r->view = with->view;
    for (size_t i = 0; i < r->count; i++)
        if (plain)
            r->element[i] = with->scalar;
        else
            r->item[i] = with;
    return r;
}

static mo_value *fill(call *c)
{
    return filled(c, c->argument[0], 1);
}

static mo_value *zeros(call *c)
{
    return filled(c, mo_integer(c->m, 0), 0);
}

static mo_value *ones(call *c)
{
    return filled(c, mo_integer(c->m, 1), 0);
}

static mo_value *square(call *c, int n, ex_type type)
{
    int size[2] = { n, n };
    mo_value *r = mo_new_array(c->m, 2, size, type);
    for (size_t i = 0; i < r->count; i++)
        r->element[i] = ex_constant(c->m->graph, 0, type);
    return r;
}

static mo_value *identity(call *c)
{
    int n;
    if (!known_integer(c, 0, &n) || n < 0)
        return mo_none(c->m);
    mo_value *r = square(c, n, EX_INTEGER);
    for (int i = 0; i < n; i++)
        r->element[i * (n + 1)] = ex_constant(c->m->graph, 1, EX_INTEGER);
    return r;
}

static mo_value *diagonal(call *c)
{
    mo_value *v = c->argument[0];
    if (!numbers(v) || v->kind != MO_V_ARRAY || v->dimensions != 1)
        return wrong(c, "the argument must be a vector");
    mo_value *r = square(c, v->size[0], v->type);
    for (int i = 0; i < v->size[0]; i++)
        r->element[i * (v->size[0] + 1)] = v->element[i];
    return r;
}

static mo_value *linspace(call *c)
{
    ex_graph *g = c->m->graph;
    int n;
    if (!known_integer(c, 2, &n))
        return mo_none(c->m);
    if (n < 2 || c->argument[0]->kind != MO_V_SCALAR || c->argument[1]->kind != MO_V_SCALAR)
        return wrong(c, "it takes two numbers and n >= 2");
    mo_value *r = mo_new_array(c->m, 1, &n, EX_REAL);
    ex_id a = c->argument[0]->scalar, b = c->argument[1]->scalar;
    for (int i = 0; i < n; i++)
        r->element[i] = ex_binary(g, EX_ADD, a,
                                  ex_binary(g, EX_MULTIPLY, ex_binary(g, EX_SUBTRACT, b, a),
                                            ex_number(g, (double)i / (n - 1))));
    return r;
}

static mo_value *transpose(call *c)
{
    mo_value *v = c->argument[0];
    if (v->kind != MO_V_ARRAY || v->dimensions < 2)
        return wrong(c, "the argument must be a matrix");
    int *size = dae_arena_take(&c->m->context->arena, (size_t)v->dimensions, sizeof *size);
    memcpy(size, v->size, (size_t)v->dimensions * sizeof *size);
    size[0] = v->size[1];
    size[1] = v->size[0];
    size_t rows = (size_t)v->size[0], columns = (size_t)v->size[1];
    size_t inner = rows && columns ? v->count / rows / columns : 0;
    mo_value *r = v->element ? mo_new_array(c->m, v->dimensions, size, v->type)
                             : mo_new_items(c->m, v->dimensions, size);
    r->view = v->view;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            for (size_t k = 0; k < inner; k++) {
                size_t to = (j * rows + i) * inner + k, from = (i * columns + j) * inner + k;
                if (v->element)
                    r->element[to] = v->element[from];
                else
                    r->item[to] = v->item[from];
            }
    return r;
}

static mo_value *outer_product(call *c)
{
    mo_value *a = c->argument[0], *b = c->argument[1];
    if (!numbers(a) || !numbers(b) || a->kind != MO_V_ARRAY || b->kind != MO_V_ARRAY ||
        a->dimensions != 1 || b->dimensions != 1)
        return wrong(c, "the arguments must be vectors");
    int size[2] = { a->size[0], b->size[0] };
    mo_value *r = mo_new_array(c->m, 2, size, a->type == EX_REAL ? EX_REAL : b->type);
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++)
            r->element[i * b->count + j] = ex_binary(c->m->graph, EX_MULTIPLY, a->element[i],
                                                     b->element[j]);
    return r;
}

static mo_value *symmetric(call *c)
{
    mo_value *v = c->argument[0];
    if (!numbers(v) || v->kind != MO_V_ARRAY || v->dimensions != 2 || v->size[0] != v->size[1])
        return wrong(c, "the argument must be a square matrix");
    size_t n = (size_t)v->size[0];
    mo_value *r = mo_new_array(c->m, 2, v->size, v->type);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            r->element[i * n + j] = i > j ? v->element[j * n + i] : v->element[i * n + j];
    return r;
}

static bool is_vector3(const mo_value *v)
{
    return numbers(v) && v->kind == MO_V_ARRAY && v->dimensions == 1 && v->size[0] == 3;
}

static mo_value *cross(call *c)
{
    ex_graph *g = c->m->graph;
    mo_value *a = c->argument[0], *b = c->argument[1];
    if (!is_vector3(a) || !is_vector3(b))
        return wrong(c, "the arguments must be vectors of 3");
    int three = 3;
    mo_value *r = mo_new_array(c->m, 1, &three, a->type == EX_REAL ? EX_REAL : b->type);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        r->element[i] = ex_binary(g, EX_SUBTRACT,
                                  ex_binary(g, EX_MULTIPLY, a->element[j], b->element[k]),
                                  ex_binary(g, EX_MULTIPLY, a->element[k], b->element[j]));
    }
    return r;
}

static mo_value *skew(call *c)
{
    mo_value *v = c->argument[0];
    if (!is_vector3(v))
        return wrong(c, "the argument must be a vector of 3");
    mo_value *r = square(c, 3, v->type);
    const int at[3] = { 7, 2, 3 }, mirror[3] = { 5, 6, 1 };
    for (int i = 0; i < 3; i++) {
        r->element[at[i]] = v->element[i];
        r->element[mirror[i]] = ex_unary(c->m->graph, EX_NEGATE, v->element[i]);
    }
    return r;
}

static mo_value *reshape(call *c, int dimensions, const int *size)
{
    mo_value *v = c->argument[0];
    mo_value *r = mo_promote(c->m, v, 1);
    mo_value *copy = dae_arena_take(&c->m->context->arena, 1, sizeof *copy);
    *copy = *r;
    copy->dimensions = dimensions;
    copy->size = dae_arena_take(&c->m->context->arena, (size_t)dimensions + 1, sizeof *copy->size);
    for (int d = 0; d < dimensions; d++)
        copy->size[d] = size[d];
    return copy;
}

static mo_value *to_scalar(call *c)
{
    mo_value *v = c->argument[0];
    if (v->kind == MO_V_ARRAY && v->count != 1)
        return wrong(c, "the array must have exactly one element");
    return mo_item_at(c->m, v, 0);
}

static mo_value *to_vector(call *c)
{
    int n = c->argument[0]->kind == MO_V_ARRAY ? (int)c->argument[0]->count : 1;
    return reshape(c, 1, &n);
}

static mo_value *to_matrix(call *c)
{
    mo_value *v = c->argument[0];
    int size[2] = { v->kind == MO_V_ARRAY ? v->size[0] : 1,
                    v->kind == MO_V_ARRAY && v->dimensions > 1 ? v->size[1] : 1 };
    return reshape(c, 2, size);
}

static mo_value *promote(call *c)
{
    int n;
    return known_integer(c, 1, &n) ? mo_promote(c->m, c->argument[0], n) : mo_none(c->m);
}

static mo_value *cat(call *c)
{
    int d;
    if (!known_integer(c, 0, &d))
        return mo_none(c->m);
    for (size_t i = 1; i < c->count; i++)
        if (c->argument[i]->kind != MO_V_ARRAY || d < 1 || d > c->argument[i]->dimensions)
            return wrong(c, "the arguments must be arrays with that dimension");
    size_t kept = 0; /* empty ones have no type of their own */
    mo_value **item = dae_arena_take(&c->m->context->arena, c->count, sizeof *item);
    for (size_t i = 1; i < c->count; i++)
        if (c->argument[i]->count || (c->argument[i]->dimensions > 1))
            item[kept++] = c->argument[i];
    if (!kept)
        return c->argument[1];
    return mo_concatenate(c->m, d - 1, item, kept, c->a->place);
}

static mo_value *make_array(call *c)
{
    return mo_stack(c->m, c->argument, c->count, c->a->place);
}

/* ------------------------------------------------------------------ time ------------- */

static ex_id rate(ex_graph *g, ex_id leaf, void *user)
{
    mo_model *m = user;
    const ex_node node = *ex_at(g, leaf);
    if (node.op == EX_TIME)
        return ex_number(g, 1);
    if (node.op == EX_VARIABLE && node.type == EX_REAL &&
        m->flat->variable[node.a].variability == FLAT_CONTINUOUS)
        return ex_variable(g, node.a, node.b + 1, EX_REAL);
    return ex_number(g, 0);
}

mo_value *mo_time_derivative(mo_model *m, mo_value *v, mo_place place)
{
    if (v->kind == MO_V_NONE)
        return v;
    bool fixed = v->member && v->member->variability <= MO_PARAMETER; /* an Integer: der is 0 */
    if (!numbers(v) || (v->type != EX_REAL && !fixed)) {
        double x;
        if (mo_constant_number(m, v, &x))
            return mo_real(m, 0);
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
        for (size_t i = 0; i < count; i++)
            e[i] = rate(m->graph, e[i], m);
    else
        ex_time_derivatives(m->graph, e, count, rate, m, &culprit);
    if (culprit) {
        mo_error(m->context, DAE_E_UNSUPPORTED, place, "this expression cannot be differentiated");
        mo_why(m->context, "it contains %s", ex_print(m->graph, culprit, flat_name, m->flat, 60));
        mo_hint(m->context, "give the expression a name and differentiate by hand");
        return mo_none(m);
    }
    if (v->kind == MO_V_SCALAR)
        return mo_scalar(m, e[0], EX_REAL, NULL);
    mo_value *r = mo_new_array(m, v->dimensions, v->size, EX_REAL);
    memcpy(r->element, e, count * sizeof *e);
    return r;
}

static mo_value *derivative(call *c)
{
    if (c->s->run && !c->s->object)
        return wrong(c, "functions cannot use der()");
    return mo_time_derivative(c->m, c->argument[0], c->a->place);
}

static ex_id before(mo_model *m, ex_id e, void *user)
{
    bool *fine = user;
    const ex_node node = *ex_at(m->graph, e);
    if (node.op == EX_NUMBER || node.op == EX_TEXT)
        return e;
    if (node.op != EX_VARIABLE || node.b) {
        *fine = false;
        return e;
    }
    if (m->flat->variable[node.a].variability <= FLAT_PARAMETER)
        return e;
    return ex_leaf(m->graph, EX_PRE, node.a, 0, 0, (ex_type)node.type);
}

static mo_value *pre(call *c)
{
    bool fine = scalars(c->argument[0]);
    mo_value *v = fine ? mo_map(c->m, c->argument[0], c->argument[0]->type, before, &fine) : NULL;
    return fine ? v : wrong(c, "the argument must be a variable");
}

static mo_value *event_test(call *c) /* edge, change */
{
    mo_value *v = c->argument[0];
    if (v->kind != MO_V_SCALAR || (c->row->op == EX_EDGE && v->type != EX_BOOLEAN))
        return wrong(c, "the argument must be a discrete scalar");
    return mo_scalar(c->m, ex_unary(c->m->graph, c->row->op, v->scalar), EX_BOOLEAN, NULL);
}

static mo_value *phase(call *c) /* initial(), terminal() */
{
    return mo_scalar(c->m, ex_leaf(c->m->graph, c->row->op, 0, 0, 0, EX_BOOLEAN), EX_BOOLEAN, NULL);
}

static mo_value *sample(call *c)
{
    if (c->argument[0]->kind != MO_V_SCALAR || c->argument[1]->kind != MO_V_SCALAR ||
        !numbers(c->argument[0]) || !numbers(c->argument[1]))
        return wrong(c, "start and interval must be numbers");
    uint32_t number = (uint32_t)c->m->graph->samplers++;
    return mo_scalar(c->m, ex_leaf(c->m->graph, EX_SAMPLE, c->argument[0]->scalar,
                                   c->argument[1]->scalar, number, EX_BOOLEAN), EX_BOOLEAN, NULL);
}

static mo_value *no_event(call *c)
{
    mo_scope quiet = *c->s;
    quiet.no_event = true;
    return mo_evaluate(c->m, &quiet, c->a->item[0]);
}

/* An expression that is smooth to order p >= 1 needs no events. */
static mo_value *smooth(call *c)
{
    mo_value *p = mo_evaluate(c->m, c->s, c->a->item[0]);
    double order;
    uint32_t culprit;
    if (p->kind != MO_V_SCALAR || !mo_evaluate_number(c->m, p->scalar, &order, &culprit))
        return wrong(c, "the order must be a known Integer");
    mo_scope quiet = *c->s;
    quiet.no_event |= order >= 1;
    return mo_evaluate(c->m, &quiet, c->a->item[1]);
}

static mo_value *homotopy(call *c)
{
    mo_value *actual = c->argument[0], *simple = c->argument[1];
    for (size_t i = 0; i < c->count && c->a->call.label; i++) {
        const char *label = c->a->call.label[i];
        if (label && strcmp(label, "actual") == 0)
            actual = c->argument[i];
        else if (label && strcmp(label, "simplified") == 0)
            simple = c->argument[i];
    }
    if (!numbers(actual) || !numbers(simple) || !mo_same_sizes(actual, simple))
        return wrong(c, "the arguments must be numbers of the same size");
    if (actual->kind == MO_V_SCALAR)
        return mo_scalar(c->m, ex_binary(c->m->graph, EX_HOMOTOPY, actual->scalar, simple->scalar),
                         EX_REAL, NULL);
    mo_value *r = mo_new_array(c->m, actual->dimensions, actual->size, EX_REAL);
    for (size_t i = 0; i < r->count; i++)
        r->element[i] = ex_binary(c->m->graph, EX_HOMOTOPY, actual->element[i], simple->element[i]);
    return r;
}

static mo_value *delay(call *c)
{
    mo_value *e = c->argument[0];
    ex_id longest = c->argument[c->count - 1]->scalar;
    for (size_t i = 1; i < c->count; i++)
        if (c->argument[i]->kind != MO_V_SCALAR || !numbers(c->argument[i]))
            return wrong(c, "the delay must be a number");
    if (!numbers(e) || e->kind != MO_V_SCALAR)
        return wrong(c, "the delayed expression must be a scalar number");
    return mo_scalar(c->m, ex_ternary(c->m->graph, EX_DELAY, e->scalar, c->argument[1]->scalar, longest),
                     EX_REAL, NULL);
}

/* ------------------------------------------------------------------ the rest --------- */

static mo_value *to_string(call *c)
{
    return mo_text_of(c->m, c->s, c->a, c->argument, c->count);
}

static mo_value *to_integer(call *c) /* Integer(enumeration) */
{
    mo_value *v = c->argument[0];
    if (v->kind != MO_V_SCALAR || (v->type != EX_ENUMERATION && v->type != EX_INTEGER))
        return wrong(c, "the argument must be an enumeration value; integer(x) rounds down");
    double x;
    if (ex_is_number(c->m->graph, v->scalar, &x))
        return mo_integer(c->m, x);
    return mo_scalar(c->m, v->type == EX_INTEGER ? v->scalar
                                : ex_unary(c->m->graph, EX_INTEGER_OF, v->scalar), EX_INTEGER, NULL);
}

static mo_value *instance_name(call *c)
{
    const char *name = c->s->object ? c->s->object->name : "";
    return mo_string(c->m, dae_arena_print(&c->m->context->arena, "%s%s%s", c->m->flat->name,
                                           name[0] ? "." : "", name));
}

static mo_value *cardinality(call *c);

static mo_value *is_present(call *c)
{
    return mo_boolean(c->m, c->argument[0]->kind != MO_V_NONE);
}

static mo_value *unsupported(call *c)
{
    mo_error(c->m->context, DAE_E_UNSUPPORTED, c->a->place, "'%s' is not supported yet", c->row->name);
    mo_hint(c->m->context, "%s", c->row->usage);
    return mo_none(c->m);
}

static mo_value *rooted(call *c)
{
    return mo_connections_query(c->m, c->s, c->a, "rooted");
}

static mo_value *as_clause(call *c)
{
    mo_error(c->m->context, DAE_E_MODEL, c->a->place, "'%s' has no value", c->row->name);
    mo_hint(c->m->context, "write it as an equation or statement of its own: %s;", c->row->usage);
    return mo_none(c->m);
}

static const builtin table[] = {
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
    { "size", size_of, 1, 2, EX_NONE, EX_REAL, false, "size(array, dimension)" },
    { "ndims", dimensions_of, 1, 1, EX_NONE, EX_REAL, false, "ndims(array)" },
    { "fill", fill, 1, -1, EX_NONE, EX_REAL, false, "fill(value, n, ...)" },
    { "zeros", zeros, 1, -1, EX_NONE, EX_REAL, false, "zeros(n, ...)" },
    { "ones", ones, 1, -1, EX_NONE, EX_REAL, false, "ones(n, ...)" },
    { "identity", identity, 1, 1, EX_NONE, EX_REAL, false, "identity(n)" },
    { "diagonal", diagonal, 1, 1, EX_NONE, EX_REAL, false, "diagonal(vector)" },
    { "linspace", linspace, 3, 3, EX_NONE, EX_REAL, false, "linspace(from, to, n)" },
    { "transpose", transpose, 1, 1, EX_NONE, EX_REAL, false, "transpose(matrix)" },
    { "outerProduct", outer_product, 2, 2, EX_NONE, EX_REAL, false, "outerProduct(v, w)" },
    { "symmetric", symmetric, 1, 1, EX_NONE, EX_REAL, false, "symmetric(matrix)" },
    { "cross", cross, 2, 2, EX_NONE, EX_REAL, false, "cross(v, w)" },
    { "skew", skew, 1, 1, EX_NONE, EX_REAL, false, "skew(v)" },
    { "scalar", to_scalar, 1, 1, EX_NONE, EX_REAL, false, "scalar(array)" },
    { "vector", to_vector, 1, 1, EX_NONE, EX_REAL, false, "vector(array)" },
    { "matrix", to_matrix, 1, 1, EX_NONE, EX_REAL, false, "matrix(array)" },
    { "promote", promote, 2, 2, EX_NONE, EX_REAL, false, "promote(array, n)" },
    { "cat", cat, 2, -1, EX_NONE, EX_REAL, false, "cat(dimension, a, b, ...)" },
    { "array", make_array, 1, -1, EX_NONE, EX_REAL, false, "array(a, b, ...)" },
    { "der", derivative, 1, 1, EX_NONE, EX_REAL, false, "der(x)" },
    { "pre", pre, 1, 1, EX_NONE, EX_REAL, false, "pre(x)" },
    { "edge", event_test, 1, 1, EX_EDGE, EX_BOOLEAN, false, "edge(b)" },
    { "change", event_test, 1, 1, EX_CHANGE, EX_BOOLEAN, false, "change(v)" },
    { "initial", phase, 0, 0, EX_INITIAL, EX_BOOLEAN, false, "initial()" },
    { "terminal", phase, 0, 0, EX_TERMINAL, EX_BOOLEAN, false, "terminal()" },
    { "sample", sample, 2, 2, EX_NONE, EX_BOOLEAN, false, "sample(start, interval)" },
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
    { "Clock", unsupported, 0, -1, EX_NONE, EX_REAL, true, "clocked models come later" },
    { "hold", unsupported, 1, -1, EX_NONE, EX_REAL, true, "clocked models come later" },
    { "previous", unsupported, 1, -1, EX_NONE, EX_REAL, true, "clocked models come later" },
    { "subSample", unsupported, 1, -1, EX_NONE, EX_REAL, true, "clocked models come later" },
    { "superSample", unsupported, 1, -1, EX_NONE, EX_REAL, true, "clocked models come later" },
    { "shiftSample", unsupported, 1, -1, EX_NONE, EX_REAL, true, "clocked models come later" },
    { "interval", unsupported, 0, -1, EX_NONE, EX_REAL, true, "clocked models come later" },
    { "initialState", unsupported, 1, 1, EX_NONE, EX_REAL, true, "state machines come later" },
    { "transition", unsupported, 1, -1, EX_NONE, EX_REAL, true, "state machines come later" },
    { "activeState", unsupported, 1, 1, EX_NONE, EX_BOOLEAN, true, "state machines come later" },
    { "rooted", rooted, 1, 1, EX_NONE, EX_BOOLEAN, true, "Connections.rooted(frame.R)" },
    { "reinit", as_clause, 1, -1, EX_NONE, EX_REAL, true, "reinit(x, value)" },
    { "assert", as_clause, 1, -1, EX_NONE, EX_REAL, true, "assert(condition, message)" },
    { "terminate", as_clause, 1, -1, EX_NONE, EX_REAL, true, "terminate(message)" },
};
enum { BUILTINS = sizeof table / sizeof *table };

const char *const *mo_builtin_names(int *count)
{
    static const char *const names[] = { /* those worth proposing for a misspelt name */
        "abs", "sign", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
        "tanh", "exp", "log", "log10", "ceil", "floor", "integer", "div", "mod", "rem", "sum",
        "product", "min", "max", "size", "ndims", "fill", "zeros", "ones", "identity", "diagonal",
        "linspace", "transpose", "outerProduct", "cross", "skew", "scalar", "vector", "matrix",
        "cat", "der", "pre", "edge", "change", "initial", "terminal", "sample", "noEvent", "smooth",
        "homotopy", "delay", "String", "semiLinear", "reinit", "assert", "terminate"
    };
    *count = (int)(sizeof names / sizeof *names);
    return names;
}

static const builtin *find(const char *name)
{
    for (size_t i = 0; i < BUILTINS; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

bool mo_is_builtin(const char *name)
{
    return find(name) != NULL;
}

/* How many connections a connector has: known once all connect clauses were read. */
static mo_value *cardinality(call *c)
{
    const mo_object *o = c->argument[0]->kind == MO_V_OBJECT ? c->argument[0]->object : NULL;
    int count = 0;
    for (size_t i = 0; i < c->m->connections; i++) {
        const mo_connection *n = &c->m->connection[i];
        count += o && n->left->kind == MO_V_OBJECT && n->left->object == o;
        count += o && n->right->kind == MO_V_OBJECT && n->right->object == o;
    }
    return mo_integer(c->m, count);
}

mo_value *mo_builtin(mo_model *m, const mo_scope *s, const mo_ast *a, const char *name, bool *found)
{
    const builtin *row = find(name);
    *found = row != NULL;
    if (!row)
        return NULL;
    call c = { .m = m, .s = s, .a = a, .row = row, .count = (size_t)a->count };
    if (a->count < row->least || (row->most >= 0 && a->count > row->most))
        return wrong(&c, dae_arena_print(&m->context->arena, "%d argument%s", a->count,
                                         a->count == 1 ? "" : "s"));
    if (row->raw)
        return row->run(&c);
    mo_value *early = row->run == size_of ? size_so_far(m, s, a) : NULL;
    if (early)
        return early;
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
        if (row->run == make_array)
            return c.argument[0];
    } else
        for (int i = 0; i < a->count; i++)
            c.argument[i] = mo_evaluate(m, s, a->item[i]);
    for (size_t i = 0; i < c.count; i++)
        if (c.argument[i]->kind == MO_V_NONE && row->run != is_present)
            return c.argument[i];
    return row->run(&c);
}
