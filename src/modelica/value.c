/* value.c: scalars, arrays, records: made, taken apart, converted. */
#include "modelica/instance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

ex_type mo_type_of(mo_primitive p)
{
    switch (p) {
    case MO_INTEGER: return EX_INTEGER;
    case MO_BOOLEAN: return EX_BOOLEAN;
    case MO_STRING: return EX_STRING;
    case MO_ENUMERATION: return EX_ENUMERATION;
    default: return EX_REAL;
    }
}

static mo_value *new_value(mo_model *m, mo_value_kind kind)
{
    mo_value *v = dae_arena_take(&m->context->arena, 1, sizeof *v);
    v->kind = kind;
    return v;
}

mo_value *mo_none(mo_model *m)
{
    return new_value(m, MO_V_NONE);
}

mo_value *mo_scalar(mo_model *m, ex_id e, ex_type type, mo_view *enumeration)
{
    mo_value *v = new_value(m, MO_V_SCALAR);
    v->scalar = e;
    v->type = type;
    v->view = enumeration;
    v->count = 1;
    return v;
}

mo_value *mo_real(mo_model *m, double x)
{
    return mo_scalar(m, ex_constant(m->graph, x, EX_REAL), EX_REAL, NULL);
}

mo_value *mo_integer(mo_model *m, double x)
{
    return mo_scalar(m, ex_constant(m->graph, x, EX_INTEGER), EX_INTEGER, NULL);
}

mo_value *mo_boolean(mo_model *m, bool b)
{
    return mo_scalar(m, ex_constant(m->graph, b, EX_BOOLEAN), EX_BOOLEAN, NULL);
}

mo_value *mo_string(mo_model *m, const char *text)
{
    return mo_scalar(m, ex_text(m->graph, text), EX_STRING, NULL);
}

mo_value *mo_literal(mo_model *m, mo_view *enumeration, int number)
{
    const mo_class *def = enumeration->def;
    dae_arena *arena = &m->context->arena;
    const char *name = dae_arena_print(arena, "%s.%s", flat_quoted(arena, enumeration->path),
                                       number <= def->literals ? def->literal[number - 1] : "?");
    return mo_scalar(m, ex_literal(m->graph, number, name), EX_ENUMERATION, enumeration);
}

static mo_value *sized(mo_model *m, int dimensions, const int *size)
{
    mo_value *v = new_value(m, MO_V_ARRAY);
    v->dimensions = dimensions;
    v->size = dae_arena_take(&m->context->arena, (size_t)dimensions + 1, sizeof *v->size);
    double count = 1;
    for (int d = 0; d < dimensions; d++) {
        v->size[d] = size[d];
        count *= size[d];
    }
    if (count > MO_MAX_VARIABLES)
        mo_fatal_hint(m->context, DAE_E_LIMIT, (mo_place){ 0 }, "make the array smaller",
                      "an array of %.0f elements; %.0f are possible", count, MO_MAX_VARIABLES);
    v->count = (size_t)count;
    return v;
}

mo_value *mo_new_array(mo_model *m, int dimensions, const int *size, ex_type type)
{
    mo_value *v = sized(m, dimensions, size);
    v->type = type;
    v->element = dae_arena_take(&m->context->arena, v->count + 1, sizeof *v->element);
    return v;
}

mo_value *mo_new_items(mo_model *m, int dimensions, const int *size)
{
    mo_value *v = sized(m, dimensions, size);
    v->item = dae_arena_take(&m->context->arena, v->count + 1, sizeof *v->item);
    return v;
}

bool mo_same_sizes(const mo_value *a, const mo_value *b)
{
    int na = a->kind == MO_V_ARRAY ? a->dimensions : 0;
    int nb = b->kind == MO_V_ARRAY ? b->dimensions : 0;
    if (na != nb) return false;
    for (int d = 0; d < na; d++)
        if (a->size[d] != b->size[d]) return false;
    return true;
}

const char *mo_shape(mo_model *m, const mo_value *v)
{
    static const char *const scalar[] = { [EX_REAL] = "Real",
                                          [EX_INTEGER] = "Integer",
                                          [EX_BOOLEAN] = "Boolean",
                                          [EX_STRING] = "String",
                                          [EX_ENUMERATION] = "an enumeration" };
    const char *name =
        v->view && v->view->def && v->type != EX_REAL ? v->view->def->name : scalar[v->type];
    switch (v->kind) {
    case MO_V_SCALAR: return name;
    case MO_V_RECORD:
    case MO_V_OBJECT: return v->view ? v->view->path : "a record";
    case MO_V_CLASS: return "a class";
    case MO_V_FUNCTION: return "a function";
    case MO_V_TUPLE: return "several results";
    case MO_V_ARRAY: break;
    default: return "nothing";
    }
    if (v->item) name = v->view && v->view->def ? v->view->path : "record";
    const char *text = name;
    for (int d = 0; d < v->dimensions; d++)
        text = dae_arena_print(&m->context->arena, "%s%s%d", text, d ? ", " : "[", v->size[d]);
    return dae_arena_print(&m->context->arena, "%s]", text);
}

/* ------------------------------------------------------------------ taking apart ----- */

mo_value *mo_item_at(mo_model *m, mo_value *v, size_t i)
{
    if (v->kind != MO_V_ARRAY) return v;
    return v->item ? v->item[i] : mo_scalar(m, v->element[i], v->type, v->view);
}

mo_value *mo_row(mo_model *m, mo_value *v, int i)
{
    if (v->kind != MO_V_ARRAY || i >= v->size[0]) return v;
    size_t count = v->count / (size_t)v->size[0];
    if (v->dimensions == 1) return mo_item_at(m, v, (size_t)i);
    mo_value *row = dae_arena_take(&m->context->arena, 1, sizeof *row);
    *row = *v;
    row->dimensions--;
    row->size++;
    row->count = count;
    row->member = NULL;
    if (v->item)
        row->item += (size_t)i * count;
    else
        row->element += (size_t)i * count;
    return row;
}

/* An object as a record: its components by name. */
mo_value *mo_fields(mo_model *m, mo_value *from)
{
    if (from->kind != MO_V_OBJECT) return from;
    mo_object *o = from->object;
    mo_value *v = new_value(m, MO_V_RECORD);
    size_t most = o->members + o->extras;
    v->item = dae_arena_take(&m->context->arena, most + 1, sizeof *v->item);
    v->field = dae_arena_take(&m->context->arena, most + 1, sizeof *v->field);
    v->count = 0;
    for (size_t i = 0; i < o->extras; i++) {
        v->field[v->count] = o->extra[i]->entry->name;
        v->item[v->count++] = mo_member_value(m, o->extra[i]);
    }
    for (size_t i = 0; i < o->members; i++) {
        mo_entry *e = o->view->entry[i];
        if (e->element->kind != MO_COMPONENT) continue;
        mo_member *member = mo_find_member(m, o, e->name);
        mo_instantiate(m, member);
        if (member->disabled) continue;
        v->field[v->count] = e->name;
        v->item[v->count++] = mo_member_value(m, member);
    }
    v->view = o->view;
    return v;
}

mo_value *mo_field(mo_model *m, mo_value *v, const char *name)
{
    if (v->kind == MO_V_OBJECT) {
        mo_member *member = mo_find_member(m, v->object, name);
        return member ? mo_member_value(m, member) : NULL;
    }
    if (v->kind != MO_V_RECORD) return NULL;
    for (size_t i = 0; i < v->count; i++)
        if (v->field[i] == name) return v->item[i];
    return NULL;
}

/* ------------------------------------------------------------------ putting together - */

static bool wider(ex_type a, ex_type b)
{
    return a == EX_INTEGER && b == EX_REAL;
}

/* {a, b, ...}: values of one shape become the rows of an array with one more dimension. */
mo_value *mo_stack(mo_model *m, mo_value **item, size_t count, mo_place place)
{
    if (count == 0) {
        int none = 0;
        return mo_new_array(m, 1, &none, EX_REAL);
    }
    mo_value *first = item[0];
    for (size_t i = 0; i < count; i++) {
        if (item[i]->kind == MO_V_NONE) return item[i];
        if (!mo_same_sizes(first, item[i]) ||
            (first->kind == MO_V_SCALAR) != (item[i]->kind == MO_V_SCALAR)) {
            mo_error(m->context, DAE_E_MODEL, place, "the elements of an array differ: %s and %s",
                     mo_shape(m, first), mo_shape(m, item[i]));
            mo_hint(m->context, "all elements of {...} have the same type and sizes");
            return mo_none(m);
        }
    }
    int rest = first->kind == MO_V_ARRAY ? first->dimensions : 0;
    int *size = dae_arena_take(&m->context->arena, (size_t)rest + 1, sizeof *size);
    size[0] = (int)count;
    for (int d = 0; d < rest; d++) size[d + 1] = first->size[d];
    bool scalars = first->kind == MO_V_SCALAR || (first->kind == MO_V_ARRAY && first->element);
    if (!scalars) {
        mo_value *all = mo_new_items(m, rest + 1, size);
        for (size_t i = 0, k = 0; i < count; i++)
            if (item[i]->kind == MO_V_ARRAY)
                for (size_t j = 0; j < item[i]->count; j++) all->item[k++] = item[i]->item[j];
            else
                all->item[k++] = item[i];
        all->view = first->view;
        return all;
    }
    ex_type type = first->type;
    for (size_t i = 0; i < count; i++)
        if (wider(type, item[i]->type)) type = item[i]->type;
    mo_value *all = mo_new_array(m, rest + 1, size, type);
    all->view = first->view;
    for (size_t i = 0, k = 0; i < count; i++) {
        bool fine = item[i]->type == type || wider(item[i]->type, type);
        if (!fine) {
            mo_error(m->context, DAE_E_MODEL, place, "the elements of an array differ: %s and %s",
                     mo_shape(m, first), mo_shape(m, item[i]));
            mo_hint(m->context, "all elements of {...} have the same type");
            return mo_none(m);
        }
        if (item[i]->kind == MO_V_SCALAR)
            all->element[k++] = item[i]->scalar;
        else
            for (size_t j = 0; j < item[i]->count; j++) all->element[k++] = item[i]->element[j];
    }
    return all;
}

/* ------------------------------------------------------------------ types ------------ */

/* Enumerations are the same type if they have the same literals in the same order (section 6.4). */
static bool same_literals(const mo_view *a, const mo_view *b)
{
    const mo_class *x = a->enumeration ? a->enumeration->def : a->def;
    const mo_class *y = b->enumeration ? b->enumeration->def : b->def;
    bool same = x->literals == y->literals;
    for (int i = 0; same && i < x->literals; i++) same = x->literal[i] == y->literal[i];
    return same || y->enumeration_open;
}

mo_value *mo_convert(mo_model *m, mo_value *v, ex_type type, mo_view *enumeration, mo_place place,
                     const char *what)
{
    if (v->kind == MO_V_NONE || v->kind == MO_V_RECORD || v->kind == MO_V_OBJECT) return v;
    bool scalars = v->kind == MO_V_SCALAR || (v->kind == MO_V_ARRAY && v->element);
    if (scalars && v->kind == MO_V_ARRAY && v->count == 0) {
        v->type = type;
        return v;
    }
    if (scalars && v->type == type) {
        if (type != EX_ENUMERATION || !enumeration || !v->view ||
            same_literals(v->view, enumeration))
            return v;
    } else if (scalars && wider(v->type, type)) {
        mo_value *real = dae_arena_take(&m->context->arena, 1, sizeof *real);
        *real = *v;
        real->type = type;
        double x;
        if (v->kind == MO_V_SCALAR && ex_is_number(m->graph, v->scalar, &x))
            real->scalar = ex_constant(m->graph, x, EX_REAL);
        return real;
    }
    mo_value want = { .kind = MO_V_SCALAR, .type = type, .view = enumeration };
    mo_error(m->context, DAE_E_MODEL, place, "'%s' is %s, but its value is %s", what,
             mo_shape(m, &want), mo_shape(m, v));
    if (scalars && v->type == EX_REAL && type == EX_INTEGER)
        mo_hint(m->context, "use integer(x) to round down");
    else if (scalars && v->type == EX_BOOLEAN)
        mo_hint(m->context, "write 'if condition then 1 else 0'");
    else
        mo_hint(m->context, "give a value of type %s", mo_shape(m, &want));
    return mo_none(m);
}

bool mo_constant_number(mo_model *m, const mo_value *v, double *x)
{
    return v->kind == MO_V_SCALAR && ex_is_number(m->graph, v->scalar, x);
}

const char *mo_constant_text(mo_model *m, const mo_value *v)
{
    if (v->kind != MO_V_SCALAR || ex_at(m->graph, v->scalar)->op != EX_TEXT) return NULL;
    return m->graph->text[ex_at(m->graph, v->scalar)->a];
}

/* ------------------------------------------------------------------ known numbers ---- */

typedef struct number_search {
    mo_model *model;
    uint32_t culprit;
    int depth;
} number_search;

static ex_id known_value(number_search *s, ex_id e);

/* A parameter is worth its declared value; where none is declared, its start value. */
static ex_id known_variable(number_search *s, ex_id e)
{
    mo_model *m = s->model;
    const ex_node node = *ex_at(m->graph, e);
    uint32_t variable = node.a;
    s->culprit = variable;
    if (node.b || variable >= m->owner_capacity || !m->owner[variable]) return 0;
    if (!isnan(m->known[variable]))
        return ex_constant(m->graph, m->known[variable], (ex_type)node.type);
    mo_member *member = m->owner[variable];
    if (member->variability > MO_PARAMETER) return 0;
    if (m->guessing && member->bound == MO_UNDER_WAY)
        return 0; /* T_start = if given then 300 else T(h_start), h_start = if given then h(T_start) */
    mo_value *v = mo_binding(m, member);
    if (!v || v->kind == MO_V_NONE) return 0;
    ex_id bound = member->dimensions ? v->element[variable - member->first] : v->scalar;
    if (s->depth > 2000) return 0;
    s->depth++;
    ex_id value = known_value(s, bound);
    s->depth--;
    double x;
    if (!value || !ex_is_number(m->graph, value, &x)) return 0;
    m->known[variable] = x;
    m->flat->variable[variable].structural = true;
    return ex_constant(m->graph, x, (ex_type)node.type);
}

static ex_id known_value(number_search *s, ex_id e)
{
    ex_graph *g = s->model->graph;
    const ex_node node = *ex_at(g, e);
    if (node.op == EX_NUMBER || node.op == EX_TEXT) return e;
    if (node.op == EX_VARIABLE) return known_variable(s, e);
    if (node.op == EX_DECLARED) return known_value(s, node.a);
    int operands = ex_ops[node.op].operands;
    if (operands == 0 || s->depth > 2000 || node.op == EX_CALL || node.op == EX_RESULT) return 0;
    s->depth++;
    ex_id a = known_value(s, node.op == EX_ELEMENT ? node.c : node.a), b = 0, c = 0, result = 0;
    double x;
    if (a && node.op == EX_IF && ex_is_number(g, a, &x))
        result = known_value(s, x != 0 ? node.b : node.c);
    else if (a) {
        b = operands > 1 ? known_value(s, node.b) : 0;
        c = operands > 2 ? known_value(s, node.c) : 0;
        if (operands == 1)
            result = ex_unary_flagged(g, (ex_op)node.op, a, node.flags);
        else if (operands == 2 && b)
            result = ex_binary_flagged(g, (ex_op)node.op, a, b, node.flags);
        else if (operands == 3 && b && c)
            result = ex_ternary(g, (ex_op)node.op, a, b, c);
    }
    s->depth--;
    return result;
}

bool mo_evaluate_number(mo_model *m, ex_id e, double *x, uint32_t *culprit)
{
    number_search s = { .model = m, .culprit = UINT32_MAX };
    ex_id value = known_value(&s, e);
    *culprit = s.culprit;
    return value && ex_is_number(m->graph, value, x);
}

/* ------------------------------------------------------------------ needed ----------- */

static void say_not_known(mo_model *m, const char *what, mo_place place, uint32_t culprit)
{
    mo_error(m->context, DAE_E_MODEL, place, "%s is not known before the simulation", what);
    if (culprit != UINT32_MAX && culprit < m->flat->variables) {
        const flat_variable *v = &m->flat->variable[culprit];
        mo_why(m->context, "'%s' is %s", v->name,
               v->variability <= FLAT_PARAMETER ? "a parameter without a value" : "a variable");
    }
    mo_hint(m->context, "use constants and parameters with values");
}

bool mo_need_integer(mo_model *m, const mo_scope *s, mo_ast *a, const char *what, int *out)
{
    mo_value *v = mo_evaluate(m, s, a);
    if (v->kind == MO_V_NONE) return false;
    if (v->kind != MO_V_SCALAR || (v->type != EX_INTEGER && v->type != EX_ENUMERATION)) {
        mo_error(m->context, DAE_E_MODEL, a->place, "%s is %s, not Integer", what, mo_shape(m, v));
        mo_hint(m->context, "use an Integer, or integer(x) to round down");
        return false;
    }
    double x;
    uint32_t culprit;
    if (!mo_evaluate_number(m, v->scalar, &x, &culprit)) {
        say_not_known(m, what, a->place, culprit);
        return false;
    }
    if (fabs(x) > 2147483647.0)
        mo_fatal_hint(m->context, DAE_E_LIMIT, a->place, "use a smaller number",
                      "%s is %.0f, which is too large", what, x);
    *out = (int)x;
    return true;
}

bool mo_need_boolean(mo_model *m, const mo_scope *s, mo_ast *a, const char *what, bool *out)
{
    mo_value *v = mo_evaluate(m, s, a);
    if (v->kind == MO_V_NONE) return false;
    if (v->kind != MO_V_SCALAR || v->type != EX_BOOLEAN) {
        mo_error(m->context, DAE_E_MODEL, a->place, "%s is %s, not Boolean", what, mo_shape(m, v));
        mo_hint(m->context, "compare it with something: x > 0, x <> 0");
        return false;
    }
    double x;
    uint32_t culprit;
    if (!mo_evaluate_number(m, v->scalar, &x, &culprit)) {
        say_not_known(m, what, a->place, culprit);
        return false;
    }
    *out = x != 0;
    return true;
}
