/* expandable.c: expandable connectors: an element that is not declared comes into being when it is
 * connected, with the type of what it is connected to; two of them that are connected have the
 * elements of both.
 *
 * Such connections are put off until all clauses were read. Then, until nothing changes any more:
 * a clause with one end that does not exist yet makes it like the other end; buses that are
 * connected take over each other's elements.
 */
#include "modelica/instance.h"

#include <string.h>

typedef struct mo_bus_clause {
    mo_scope scope;
    const mo_clause *clause;
    mo_object *left, *right; /* both are buses, connected as a whole */
    bool done;
} mo_bus_clause;

static bool is_expandable(mo_model *m, const mo_value *v)
{
    return v && v->kind == MO_V_OBJECT && mo_is_kind(m, v->object->view, MO_EXPANDABLE_CONNECTOR);
}

/* The value of all but the last part of a reference, if that is there and an expandable connector. */
static mo_object *bus_of(mo_model *m, const mo_scope *s, const mo_reference *r)
{
    mo_value *v = r->global ? NULL : mo_find_name(m, s, r->part[0].name);
    for (int i = 0; v && i + 1 < r->parts; i++) {
        if (i > 0) {
            mo_member *member = v->kind == MO_V_OBJECT
                                    ? mo_find_member(m, v->object, r->part[i].name) : NULL;
            v = member ? mo_member_value(m, member) : NULL;
        }
        if (v && r->part[i].subscripts)
            v = mo_subscript(m, s, v, r->part[i].subscript, r->part[i].subscripts, r->part[i].place);
    }
    return r->parts > 1 && is_expandable(m, v) ? v->object : NULL;
}

/* The bus that an end of a connection should have an element of, which it has not. */
static mo_object *missing(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    if (a->kind != MO_A_REFERENCE)
        return NULL;
    const mo_reference *r = a->call.reference;
    mo_object *bus = bus_of(m, s, r);
    return bus && !mo_find_member(m, bus, r->part[r->parts - 1].name) ? bus : NULL;
}

static mo_object *whole_bus(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    if (a->kind != MO_A_REFERENCE || missing(m, s, a))
        return NULL;
    int errors = m->context->errors;
    mo_value *v = mo_reference_value(m, s, a->call.reference);
    return m->context->errors == errors && is_expandable(m, v) ? v->object : NULL;
}

bool mo_connect_expandable(mo_model *m, const mo_scope *s, const mo_clause *c)
{
    m->connecting = true;
    bool one = missing(m, s, c->left) || missing(m, s, c->right);
    mo_object *left = one ? NULL : whole_bus(m, s, c->left);
    mo_object *right = left ? whole_bus(m, s, c->right) : NULL;
    m->connecting = false;
    if (!one && !right)
        return false;
    m->bus = dae_arena_grow(&m->context->arena, m->bus, m->buses, &m->bus_capacity, sizeof *m->bus);
    mo_bus_clause *b = &m->bus[m->buses++];
    *b = (mo_bus_clause){ .scope = *s, .clause = c, .left = left, .right = right };
    if (s->env) { /* the values that iterators have now */
        mo_env **end = &b->scope.env;
        for (const mo_env *e = s->env; e; e = e->next) {
            *end = dae_arena_take(&m->context->arena, 1, sizeof **end);
            **end = *e;
            end = &(*end)->next;
        }
    }
    return true;
}

static bool make(mo_model *m, const mo_bus_clause *b, mo_object *bus, const mo_ast *at,
                 const mo_ast *other)
{
    m->connecting = true;
    mo_value *like = mo_reference_value(m, &b->scope, other->call.reference);
    m->connecting = false;
    const mo_reference *r = at->call.reference;
    const mo_part *last = &r->part[r->parts - 1];
    if (like->kind == MO_V_NONE)
        return true; /* with a component that is disabled, or an error that was reported */
    if (last->subscripts) {
        mo_error(m->context, DAE_E_UNSUPPORTED, last->place,
                 "an array in an expandable connector that is made element by element");
        mo_hint(m->context, "declare '%s' in the expandable connector '%s'", last->name,
                bus->view->path);
        return true;
    }
    if (!mo_add_member(m, bus, last->name, like)) {
        mo_error(m->context, DAE_E_MODEL, at->place, "'%s' cannot come into being in '%s'", last->name,
                 bus->name);
        mo_hint(m->context, "connect it to a connector or a variable");
    }
    return true;
}

/* What `from` has and `to` has not; nested buses likewise. */
static bool take_over(mo_model *m, mo_object *from, mo_object *to)
{
    bool changed = false;
    for (size_t i = 0; i < from->members + from->extras; i++) {
        mo_member *member = i < from->members ? from->member[i] : from->extra[i - from->members];
        if (!member || member->progress != MO_DONE || member->disabled)
            continue;
        mo_member *there = mo_find_member(m, to, member->entry->name);
        if (!there) {
            mo_add_member(m, to, member->entry->name, mo_member_value(m, member));
            changed = true;
        } else if (is_expandable(m, mo_member_value(m, member)) &&
                   is_expandable(m, mo_member_value(m, there)))
            changed |= take_over(m, member->element[0], there->element[0]);
    }
    return changed;
}

static bool advance(mo_model *m, mo_bus_clause *b)
{
    if (b->left) { /* both ways, whatever the first says */
        bool there = take_over(m, b->left, b->right), back = take_over(m, b->right, b->left);
        return there || back;
    }
    if (b->done)
        return false;
    mo_object *left = missing(m, &b->scope, b->clause->left);
    mo_object *right = missing(m, &b->scope, b->clause->right);
    if (left && right)
        return false;
    b->done = true;
    if (left)
        return make(m, b, left, b->clause->left, b->clause->right);
    return right ? make(m, b, right, b->clause->right, b->clause->left) : true;
}

void mo_finish_expandable(mo_model *m)
{
    bool changed = true;
    while (changed && !m->context->errors) {
        changed = false;
        for (size_t i = 0; i < m->buses; i++)
            changed |= advance(m, &m->bus[i]);
    }
    for (size_t i = 0; i < m->buses && !m->context->errors; i++) {
        const mo_bus_clause *b = &m->bus[i];
        if (!b->left && !b->done) {
            mo_error(m->context, DAE_E_MODEL, b->clause->place,
                     "neither end of the connection exists: '%s' and '%s'",
                     mo_ast_text(m->context, b->clause->left),
                     mo_ast_text(m->context, b->clause->right));
            mo_hint(m->context, "connect one of them to a component that has it");
        } else
            mo_connect_now(m, &b->scope, b->clause);
    }
}
