/* builtins_array.c: functions of the language that make arrays, and ask for their sizes. */
#include "modelica/builtins.h"

#include <math.h>
#include <string.h>

mo_value *mo_builtin_size_of(mo_call *c)
{
    mo_value *v = c->argument[0];
    int dimensions = v->kind == MO_V_ARRAY ? v->dimensions : 0;
    if (c->count == 2) {
        int d;
        if (!mo_known_integer(c, 1, &d)) return mo_none(c->m);
        if (d < 1 || d > dimensions)
            return mo_wrong_call(c, dae_arena_print(&c->m->context->arena,
                                                    "there is no dimension %d in %s", d,
                                                    mo_shape(c->m, v)));
        return mo_integer(c->m, v->size[d - 1]);
    }
    mo_value *r = mo_new_array(c->m, 1, &dimensions, EX_INTEGER);
    for (int d = 0; d < dimensions; d++)
        r->element[d] = ex_constant(c->m->graph, v->size[d], EX_INTEGER);
    return r;
}

/* Real A[:, size(A, 1)]: the array does not exist yet, but its first sizes are known. NULL: it is
 * about something else. */
mo_value *mo_builtin_size_so_far(mo_model *m, const mo_scope *s, const mo_ast *a)
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

mo_value *mo_builtin_dimensions_of(mo_call *c)
{
    mo_value *v = c->argument[0];
    return mo_integer(c->m, v->kind == MO_V_ARRAY ? v->dimensions : 0);
}

static mo_value *filled(mo_call *c, mo_value *with, size_t first)
{
    int n = (int)(c->count - first);
    int *size = dae_arena_take(&c->m->context->arena, (size_t)n + 1, sizeof *size);
    double count = 1;
    for (int d = 0; d < n; d++) {
        if (!mo_known_integer(c, first + (size_t)d, &size[d])) return mo_none(c->m);
        if (size[d] < 0) return mo_wrong_call(c, "a size is negative");
        count *= size[d];
    }
    if (count > MO_MAX_VARIABLES)
        mo_fatal_hint(c->m->context, DAE_E_LIMIT, c->a->place, "make the array smaller",
                      "an array of %.0f elements; %.0f are possible", count, MO_MAX_VARIABLES);
    if (with->kind == MO_V_ARRAY) { /* fill({1, 2}, n) */
        size_t rows = (size_t)count;
        mo_value **item = dae_arena_take(&c->m->context->arena, rows + 1, sizeof *item);
        for (size_t i = 0; i < rows; i++) item[i] = with;
        return n == 1 ? mo_stack(c->m, item, rows, c->a->place)
                      : mo_wrong_call(c, "arrays can be repeated in one dimension only");
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

mo_value *mo_builtin_fill(mo_call *c)
{
    return filled(c, c->argument[0], 1);
}

mo_value *mo_builtin_zeros(mo_call *c)
{
    return filled(c, mo_integer(c->m, 0), 0);
}

mo_value *mo_builtin_ones(mo_call *c)
{
    return filled(c, mo_integer(c->m, 1), 0);
}

static mo_value *square(mo_call *c, int n, ex_type type)
{
    int size[2] = { n, n };
    mo_value *r = mo_new_array(c->m, 2, size, type);
    for (size_t i = 0; i < r->count; i++) r->element[i] = ex_constant(c->m->graph, 0, type);
    return r;
}

mo_value *mo_builtin_identity(mo_call *c)
{
    int n;
    if (!mo_known_integer(c, 0, &n) || n < 0) return mo_none(c->m);
    mo_value *r = square(c, n, EX_INTEGER);
    for (int i = 0; i < n; i++) r->element[i * (n + 1)] = ex_constant(c->m->graph, 1, EX_INTEGER);
    return r;
}

mo_value *mo_builtin_diagonal(mo_call *c)
{
    mo_value *v = c->argument[0];
    if (!mo_are_numbers(v) || v->kind != MO_V_ARRAY || v->dimensions != 1)
        return mo_wrong_call(c, "the argument must be a vector");
    mo_value *r = square(c, v->size[0], v->type);
    for (int i = 0; i < v->size[0]; i++) r->element[i * (v->size[0] + 1)] = v->element[i];
    return r;
}

mo_value *mo_builtin_linspace(mo_call *c)
{
    ex_graph *g = c->m->graph;
    int n;
    if (!mo_known_integer(c, 2, &n)) return mo_none(c->m);
    if (n < 2 || c->argument[0]->kind != MO_V_SCALAR || c->argument[1]->kind != MO_V_SCALAR)
        return mo_wrong_call(c, "it takes two numbers and n >= 2");
    mo_value *r = mo_new_array(c->m, 1, &n, EX_REAL);
    ex_id a = c->argument[0]->scalar, b = c->argument[1]->scalar;
    for (int i = 0; i < n; i++)
        r->element[i] = ex_binary(g, EX_ADD, a,
                                  ex_binary(g, EX_MULTIPLY, ex_binary(g, EX_SUBTRACT, b, a),
                                            ex_number(g, (double)i / (n - 1))));
    return r;
}

mo_value *mo_builtin_transpose(mo_call *c)
{
    mo_value *v = c->argument[0];
    if (v->kind != MO_V_ARRAY || v->dimensions < 2)
        return mo_wrong_call(c, "the argument must be a matrix");
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

mo_value *mo_builtin_outer_product(mo_call *c)
{
    mo_value *a = c->argument[0], *b = c->argument[1];
    if (!mo_are_numbers(a) || !mo_are_numbers(b) || a->kind != MO_V_ARRAY ||
        b->kind != MO_V_ARRAY || a->dimensions != 1 || b->dimensions != 1)
        return mo_wrong_call(c, "the arguments must be vectors");
    int size[2] = { a->size[0], b->size[0] };
    mo_value *r = mo_new_array(c->m, 2, size, a->type == EX_REAL ? EX_REAL : b->type);
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++)
            r->element[i * b->count + j] =
                ex_binary(c->m->graph, EX_MULTIPLY, a->element[i], b->element[j]);
    return r;
}

mo_value *mo_builtin_symmetric(mo_call *c)
{
    mo_value *v = c->argument[0];
    if (!mo_are_numbers(v) || v->kind != MO_V_ARRAY || v->dimensions != 2 ||
        v->size[0] != v->size[1])
        return mo_wrong_call(c, "the argument must be a square matrix");
    size_t n = (size_t)v->size[0];
    mo_value *r = mo_new_array(c->m, 2, v->size, v->type);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            r->element[i * n + j] = i > j ? v->element[j * n + i] : v->element[i * n + j];
    return r;
}

static bool is_vector3(const mo_value *v)
{
    return mo_are_numbers(v) && v->kind == MO_V_ARRAY && v->dimensions == 1 && v->size[0] == 3;
}

mo_value *mo_builtin_cross(mo_call *c)
{
    ex_graph *g = c->m->graph;
    mo_value *a = c->argument[0], *b = c->argument[1];
    if (!is_vector3(a) || !is_vector3(b))
        return mo_wrong_call(c, "the arguments must be vectors of 3");
    int three = 3;
    mo_value *r = mo_new_array(c->m, 1, &three, a->type == EX_REAL ? EX_REAL : b->type);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        r->element[i] =
            ex_binary(g, EX_SUBTRACT, ex_binary(g, EX_MULTIPLY, a->element[j], b->element[k]),
                      ex_binary(g, EX_MULTIPLY, a->element[k], b->element[j]));
    }
    return r;
}

mo_value *mo_builtin_skew(mo_call *c)
{
    mo_value *v = c->argument[0];
    if (!is_vector3(v)) return mo_wrong_call(c, "the argument must be a vector of 3");
    mo_value *r = square(c, 3, v->type);
    const int at[3] = { 7, 2, 3 }, mirror[3] = { 5, 6, 1 };
    for (int i = 0; i < 3; i++) {
        r->element[at[i]] = v->element[i];
        r->element[mirror[i]] = ex_unary(c->m->graph, EX_NEGATE, v->element[i]);
    }
    return r;
}

static mo_value *reshape(mo_call *c, int dimensions, const int *size)
{
    mo_value *v = c->argument[0];
    mo_value *r = mo_promote(c->m, v, 1);
    mo_value *copy = dae_arena_take(&c->m->context->arena, 1, sizeof *copy);
    *copy = *r;
    copy->dimensions = dimensions;
    copy->size = dae_arena_take(&c->m->context->arena, (size_t)dimensions + 1, sizeof *copy->size);
    for (int d = 0; d < dimensions; d++) copy->size[d] = size[d];
    return copy;
}

mo_value *mo_builtin_to_scalar(mo_call *c)
{
    mo_value *v = c->argument[0];
    if (v->kind == MO_V_ARRAY && v->count != 1)
        return mo_wrong_call(c, "the array must have exactly one element");
    return mo_item_at(c->m, v, 0);
}

mo_value *mo_builtin_to_vector(mo_call *c)
{
    int n = c->argument[0]->kind == MO_V_ARRAY ? (int)c->argument[0]->count : 1;
    return reshape(c, 1, &n);
}

mo_value *mo_builtin_to_matrix(mo_call *c)
{
    mo_value *v = c->argument[0];
    int size[2] = { v->kind == MO_V_ARRAY ? v->size[0] : 1,
                    v->kind == MO_V_ARRAY && v->dimensions > 1 ? v->size[1] : 1 };
    return reshape(c, 2, size);
}

mo_value *mo_builtin_promote(mo_call *c)
{
    int n;
    return mo_known_integer(c, 1, &n) ? mo_promote(c->m, c->argument[0], n) : mo_none(c->m);
}

mo_value *mo_builtin_cat(mo_call *c)
{
    int d;
    if (!mo_known_integer(c, 0, &d)) return mo_none(c->m);
    for (size_t i = 1; i < c->count; i++)
        if (c->argument[i]->kind != MO_V_ARRAY || d < 1 || d > c->argument[i]->dimensions)
            return mo_wrong_call(c, "the arguments must be arrays with that dimension");
    size_t kept = 0; /* empty ones have no type of their own */
    mo_value **item = dae_arena_take(&c->m->context->arena, c->count, sizeof *item);
    for (size_t i = 1; i < c->count; i++)
        if (c->argument[i]->count || (c->argument[i]->dimensions > 1))
            item[kept++] = c->argument[i];
    if (!kept) return c->argument[1];
    return mo_concatenate(c->m, d - 1, item, kept, c->a->place);
}

mo_value *mo_builtin_make_array(mo_call *c)
{
    return mo_stack(c->m, c->argument, c->count, c->a->place);
}
