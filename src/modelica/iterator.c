/* iterator.c: what 'for i in range' runs through; where the range is left out it is that of the
 * subscript that i is somewhere in the body: for i loop x[i] ... means i in 1:size(x, 1).
 */
#include "modelica/instance.h"

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
            if (in_expression(u, s))
                return true;
        }
    return false;
}

static bool in_expression(use *u, const mo_ast *a)
{
    if (!a)
        return false;
    if ((a->kind == MO_A_REFERENCE || a->kind == MO_A_CALL) && in_reference(u, a->call.reference))
        return true;
    for (int i = 0; i < a->count; i++)
        if (in_expression(u, a->item[i]))
            return true;
    return false;
}

static bool in_clauses(use *u, const mo_branch *b)
{
    if (in_expression(u, b->condition))
        return true;
    for (int i = 0; i < b->clauses; i++) {
        const mo_clause *c = b->clause[i];
        if (in_expression(u, c->left) || in_expression(u, c->right))
            return true;
        for (int k = 0; k < c->branches; k++)
            if (in_clauses(u, &c->branch[k]))
                return true;
    }
    return false;
}

/* All values of a type that can be a subscript; NULL: it has no such list. */
static mo_value *values_of(mo_model *m, mo_view *v)
{
    mo_expand(m, v);
    bool boolean = v->primitive == MO_BOOLEAN;
    if (!boolean && v->primitive != MO_ENUMERATION)
        return NULL;
    int size = boolean ? 2 : v->enumeration->def->literals;
    ex_type type = boolean ? EX_BOOLEAN : EX_ENUMERATION;
    mo_value *r = mo_new_array(m, 1, &size, type);
    r->view = v->enumeration;
    for (int i = 0; i < size; i++)
        r->element[i] = boolean ? ex_constant(m->graph, i, type)
                                : mo_literal(m, v->enumeration, i + 1)->scalar;
    return r;
}

/* x[Colour] is indexed by the colours. */
static mo_value *values_of_dimension(mo_model *m, const mo_value *array, int d)
{
    const mo_member *member = array->member;
    if (!member || d >= member->entry->element->dimensions)
        return NULL;
    const mo_ast *size = member->entry->element->dimension[d];
    if (size->kind != MO_A_REFERENCE)
        return NULL;
    mo_scope scope = { .object = member->object, .view = member->entry->sizes_in };
    mo_value *v = mo_evaluate(m, &scope, size);
    return v->kind == MO_V_CLASS ? values_of(m, v->view) : NULL;
}

static mo_value *deduced(mo_model *m, const mo_scope *s, const mo_iterator *it, const mo_ast *body,
                         const mo_branch *clauses)
{
    use u = { .name = it->name };
    if (!in_expression(&u, body) && !(clauses && in_clauses(&u, clauses))) {
        mo_error(m->context, DAE_E_MODEL, it->place, "the range of '%s' cannot be deduced", it->name);
        mo_why(m->context, "'%s' is no subscript of an array in the loop", it->name);
        mo_hint(m->context, "write 'for %s in 1:n'", it->name);
        return mo_none(m);
    }
    mo_part *part = dae_arena_take(&m->context->arena, (size_t)u.part + 1, sizeof *part);
    for (int i = 0; i <= u.part; i++)
        part[i] = u.where->part[i];
    part[u.part].subscripts = 0;
    mo_reference array = { .part = part, .parts = u.part + 1, .global = u.where->global,
                           .place = u.where->place };
    mo_value *v = mo_reference_value(m, s, &array);
    if (v->kind == MO_V_NONE)
        return v;
    int d = u.subscript;
    if (v->kind != MO_V_ARRAY || d >= v->dimensions) {
        mo_error(m->context, DAE_E_MODEL, it->place, "the range of '%s' cannot be deduced", it->name);
        mo_why(m->context, "it is a subscript of '%s', which is %s",
               mo_reference_text(m->context, &array), mo_shape(m, v));
        mo_hint(m->context, "write 'for %s in 1:n'", it->name);
        return mo_none(m);
    }
    mo_value *named = values_of_dimension(m, v, d);
    if (named)
        return named;
    mo_value *r = mo_new_array(m, 1, &v->size[d], EX_INTEGER);
    for (int i = 0; i < v->size[d]; i++)
        r->element[i] = ex_constant(m->graph, i + 1, EX_INTEGER);
    return r;
}

mo_value *mo_iterator_range(mo_model *m, const mo_scope *s, const mo_iterator *it,
                            const mo_ast *body, const mo_branch *clauses)
{
    if (!it->range)
        return deduced(m, s, it, body, clauses);
    mo_value *v = mo_evaluate(m, s, it->range);
    if (v->kind == MO_V_CLASS) { /* for e in Enumeration */
        mo_value *all = values_of(m, v->view);
        if (all)
            return all;
    }
    if (v->kind == MO_V_NONE)
        return v;
    if (v->kind != MO_V_ARRAY || v->dimensions != 1) {
        mo_error(m->context, DAE_E_MODEL, it->place, "'for %s in' needs a vector, not %s", it->name,
                 mo_shape(m, v));
        mo_hint(m->context, "write 'for %s in 1:n'", it->name);
        return mo_none(m);
    }
    return v;
}
