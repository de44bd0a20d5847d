/* iterator.c: what 'for i in range' runs through; where the range is left out it is that of the
 * subscript that i is somewhere in the body: for i loop x[i] ... means i in 1:size(x, 1).
 *
 * An array {e for i in range} whose range is empty has no element to ask for its type: it is read
 * from the text of e.
 */
#include "modelica/instance.h"

#include <string.h>

/* The first place where the name alone is a subscript: number `subscript` of a part of `where`. */
typedef struct use {
    const char *name;
    const mo_reference *where;
    int part, subscript;
} use;

static bool in_expression(use *u, const mo_ast *a);

static bool in_reference(use *u, const mo_reference *r)
{
    for (int i = 0; r && i < r->parts; i++)
        for (int k = 0; k < r->part[i].subscripts; k++) {
            const mo_ast *s = r->part[i].subscript[k];
            const mo_reference *inner = s->kind == MO_A_REFERENCE ? s->call.reference : NULL;
            if (inner && inner->parts == 1 && inner->part[0].name == u->name &&
                !inner->part[0].subscripts) {
                u->where = r;
                u->part = i;
                u->subscript = k;
                return true;
            }
            if (in_expression(u, s)) return true;
        }
    return false;
}

static bool in_expression(use *u, const mo_ast *a)
{
    if (!a) return false;
    if ((a->kind == MO_A_REFERENCE || a->kind == MO_A_CALL) && in_reference(u, a->call.reference))
        return true;
    for (int i = 0; i < a->count; i++)
        if (in_expression(u, a->item[i])) return true;
    return false;
}

static bool in_clauses(use *u, const mo_branch *b)
{
    if (in_expression(u, b->condition)) return true;
    for (int i = 0; i < b->clauses; i++) {
        const mo_clause *c = b->clause[i];
        if (in_expression(u, c->left) || in_expression(u, c->right)) return true;
        for (int k = 0; k < c->branches; k++)
            if (in_clauses(u, &c->branch[k])) return true;
    }
    return false;
}

/* All values of a type that can be a subscript; NULL: it has no such list. */
static mo_value *values_of(mo_model *m, mo_view *v)
{
    mo_expand(m, v);
    bool boolean = v->primitive == MO_BOOLEAN;
    if (!boolean && v->primitive != MO_ENUMERATION) return NULL;
    int size = boolean ? 2 : v->enumeration->def->literals;
    ex_type type = boolean ? EX_BOOLEAN : EX_ENUMERATION;
    mo_value *r = mo_new_array(m, 1, &size, type);
    r->view = v->enumeration;
    for (int i = 0; i < size; i++)
        r->element[i] =
            boolean ? ex_constant(m->graph, i, type) : mo_literal(m, v->enumeration, i + 1)->scalar;
    return r;
}

/* x[Colour] is indexed by the colours. */
static mo_value *values_of_dimension(mo_model *m, const mo_value *array, int d)
{
    const mo_member *member = array->member;
    if (!member || d >= member->entry->element->dimensions) return NULL;
    const mo_ast *size = member->entry->element->dimension[d];
    if (size->kind != MO_A_REFERENCE) return NULL;
    mo_scope scope = { .object = member->object, .view = member->entry->sizes_in };
    mo_value *v = mo_evaluate(m, &scope, size);
    return v->kind == MO_V_CLASS ? values_of(m, v->view) : NULL;
}

static mo_value *deduced(mo_model *m, const mo_scope *s, const mo_iterator *it, const mo_ast *body,
                         const mo_branch *clauses)
{
    use u = { .name = it->name };
    if (!in_expression(&u, body) && !(clauses && in_clauses(&u, clauses))) {
        mo_error(m->context, DAE_E_MODEL, it->place, "the range of '%s' cannot be deduced",
                 it->name);
        mo_why(m->context, "'%s' is no subscript of an array in the loop", it->name);
        mo_hint(m->context, "write 'for %s in 1:n'", it->name);
        return mo_none(m);
    }
    mo_part *part = dae_arena_take(&m->context->arena, (size_t)u.part + 1, sizeof *part);
    for (int i = 0; i <= u.part; i++) part[i] = u.where->part[i];
    part[u.part].subscripts = 0;
    mo_reference array = {
        .part = part, .parts = u.part + 1, .global = u.where->global, .place = u.where->place
    };
    mo_value *v = mo_reference_value(m, s, &array);
    if (v->kind == MO_V_NONE) return v;
    int d = u.subscript;
    if (v->kind != MO_V_ARRAY || d >= v->dimensions) {
        mo_error(m->context, DAE_E_MODEL, it->place, "the range of '%s' cannot be deduced",
                 it->name);
        mo_why(m->context, "it is a subscript of '%s', which is %s",
               mo_reference_text(m->context, &array), mo_shape(m, v));
        mo_hint(m->context, "write 'for %s in 1:n'", it->name);
        return mo_none(m);
    }
    mo_value *named = values_of_dimension(m, v, d);
    if (named) return named;
    mo_value *r = mo_new_array(m, 1, &v->size[d], EX_INTEGER);
    for (int i = 0; i < v->size[d]; i++) r->element[i] = ex_constant(m->graph, i + 1, EX_INTEGER);
    return r;
}

mo_value *mo_iterator_range(mo_model *m, const mo_scope *s, const mo_iterator *it,
                            const mo_ast *body, const mo_branch *clauses)
{
    if (!it->range) return deduced(m, s, it, body, clauses);
    mo_value *v = mo_evaluate(m, s, it->range);
    if (v->kind == MO_V_CLASS) { /* for e in Enumeration */
        mo_value *all = values_of(m, v->view);
        if (all) return all;
    }
    if (v->kind == MO_V_NONE) return v;
    if (v->kind != MO_V_ARRAY || v->dimensions != 1) {
        mo_error(m->context, DAE_E_MODEL, it->place, "'for %s in' needs a vector, not %s", it->name,
                 mo_shape(m, v));
        mo_hint(m->context, "write 'for %s in 1:n'", it->name);
        return mo_none(m);
    }
    return v;
}

/* ------------------------------------------------------------------ no elements ------ */

static ex_type type_of_view(mo_model *m, mo_view *v)
{
    if (!v) return EX_REAL;
    mo_expand(m, v);
    return v->primitive == MO_INTEGER   ? EX_INTEGER
           : v->primitive == MO_BOOLEAN ? EX_BOOLEAN
           : v->primitive == MO_STRING  ? EX_STRING
                                        : EX_REAL;
}

static mo_view *type_of_entry(mo_model *m, const mo_entry *e)
{
    mo_scope scope = { .view = e->where };
    return e->element->kind == MO_COMPONENT ? mo_find_class(m, &scope, e->element->type, false)
                                            : NULL;
}

/* a[i].b[j]: the subscripts are not looked at, there may be nothing for them to choose from. */
static ex_type type_of_reference(mo_model *m, const mo_scope *s, const mo_reference *r)
{
    const mo_value *v = r->global ? NULL : mo_find_name(m, s, r->part[0].name);
    if (!v) return EX_REAL;
    if (r->parts == 1)
        return v->kind == MO_V_SCALAR || (v->kind == MO_V_ARRAY && !v->item) ? v->type : EX_REAL;
    mo_view *view = v->kind == MO_V_OBJECT ? v->object->view : v->view;
    for (int i = 1; view && i < r->parts; i++) {
        mo_expand(m, view);
        const mo_entry *e = mo_find_entry(m, view, r->part[i].name);
        view = e ? type_of_entry(m, e) : NULL;
    }
    return type_of_view(m, view);
}

/* Integer if all operands are; `from`, `step`: which of the items are operands. */
static ex_type common_type(mo_model *m, const mo_scope *s, const mo_ast *a, int from, int step)
{
    for (int i = from; i < a->count; i += step) {
        ex_type t = mo_type_in_text(m, s, a->item[i]);
        if (t != EX_INTEGER) return t;
    }
    return a->count > from ? EX_INTEGER : EX_REAL;
}

static ex_type type_of_call(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    static const char *const whole[] = { "integer", "Integer", "size", "ndims", "sign" };
    static const char *const same[] = { "abs", "sum", "product", "min",    "max",    "div",   "mod",
                                        "rem", "pre", "noEvent", "scalar", "vector", "matrix" };
    const char *name = a->call.reference->part[a->call.reference->parts - 1].name;
    mo_view *f = mo_find_class(m, s, a->call.reference, false);
    if (f) mo_expand(m, f);
    for (size_t i = 0; f && i < f->entries; i++)
        if (f->entry[i]->element->kind == MO_COMPONENT && f->entry[i]->element->output)
            return type_of_view(m, type_of_entry(m, f->entry[i]));
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(whole[i], name) == 0) return EX_INTEGER;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(same[i], name) == 0) return common_type(m, s, a, 0, 1);
    return EX_REAL;
}

ex_type mo_type_in_text(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    switch (a->kind) {
    case MO_A_INTEGER: return EX_INTEGER;
    case MO_A_STRING: return EX_STRING;
    case MO_A_BOOLEAN:
    case MO_A_RELATION:
    case MO_A_AND:
    case MO_A_OR:
    case MO_A_NOT: return EX_BOOLEAN;
    case MO_A_REFERENCE: return type_of_reference(m, s, a->call.reference);
    case MO_A_CALL: return a->call.iterators ? EX_REAL : type_of_call(m, s, a);
    case MO_A_IF: /* c, x, c, y, ..., z */
        return a->count > 2 && mo_type_in_text(m, s, a->item[a->count - 1]) == EX_REAL
                   ? EX_REAL
                   : common_type(m, s, a, 1, 2);
    case MO_A_PRODUCT:
        for (int i = 1; i < a->count; i++)
            if (a->op[i] == MO_OVER || a->op[i] == MO_DOT_OVER) return EX_REAL;
        return common_type(m, s, a, 0, 1);
    case MO_A_SUM:
    case MO_A_RANGE:
    case MO_A_ARRAY:
    case MO_A_MATRIX:
    case MO_A_ROW: return common_type(m, s, a, 0, 1);
    default: return EX_REAL;
    }
}
