/* expandable.c: expandable connectors: an element that is not declared comes into being when it is
 * connected, with the type of what it is connected to; two of them that are connected have the
 * elements of both.
 *
 * Such connections are put off until all clauses were read. Then, until nothing changes any more:
 * a clause with one end that does not exist yet makes it like the other end; buses that are
 * connected take over each other's elements. An array made element by element, bus.x[2], is as
 * large as the largest subscript on any of the buses that are connected with each other.
 *
 * What a bus declares and nobody uses is left out: variables that are connected only with such
 * variables of other buses, and occur in no equation.
 */
#include "modelica/instance.h"

#include <string.h>

typedef struct mo_bus_clause {
    mo_scope scope;
    const mo_clause *clause;
    mo_object *left, *right; /* both are buses, connected as a whole */
    bool done;
    bool gone; /* with a component that is disabled */
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
            mo_member *member =
                v->kind == MO_V_OBJECT ? mo_find_member(m, v->object, r->part[i].name) : NULL;
            v = member ? mo_member_value(m, member) : NULL;
        }
        if (v && r->part[i].subscripts)
            v = mo_subscript(m, s, v, r->part[i].subscript, r->part[i].subscripts,
                             r->part[i].place);
    }
    return r->parts > 1 && is_expandable(m, v) ? v->object : NULL;
}

/* The bus that an end of a connection should have an element of, which it has not. */
static mo_object *missing(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    if (a->kind != MO_A_REFERENCE) return NULL;
    const mo_reference *r = a->call.reference;
    bool connecting = m->connecting;
    m->connecting = true; /* names of conditional components may be used */
    mo_object *bus = bus_of(m, s, r);
    m->connecting = connecting;
    return bus && !mo_find_member(m, bus, r->part[r->parts - 1].name) ? bus : NULL;
}

static mo_object *whole_bus(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    if (a->kind != MO_A_REFERENCE || missing(m, s, a)) return NULL;
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
    if (!one && !right) return false;
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

/* ------------------------------------------------------------------ element by element */

/* Marks the buses that are connected with `bus`: of every clause the left (1) and right (2) end. */
static unsigned char *connected_with(mo_model *m, const mo_object *bus)
{
    unsigned char *mark = dae_arena_take(&m->context->arena, m->buses + 1, sizeof *mark);
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < m->buses; i++) {
            const mo_bus_clause *b = &m->bus[i];
            if (!b->left || mark[i]) continue;
            bool here = b->left == bus || b->right == bus;
            for (size_t k = 0; k < m->buses && !here; k++)
                here = mark[k] && (m->bus[k].left == b->left || m->bus[k].left == b->right ||
                                   m->bus[k].right == b->left || m->bus[k].right == b->right);
            mark[i] = here;
            changed |= here;
        }
    }
    return mark;
}

static bool is_marked(mo_model *m, const unsigned char *mark, const mo_object *bus)
{
    for (size_t i = 0; i < m->buses; i++)
        if (mark[i] && (m->bus[i].left == bus || m->bus[i].right == bus)) return true;
    return false;
}

/* The end of a clause: is it the array's element on one of the buses? Then it is so large at least. */
static bool enlarge(mo_model *m, const mo_bus_clause *b, const mo_ast *end, const mo_part *array,
                    const mo_object *bus, const unsigned char *mark, int *size)
{
    const mo_object *other = missing(m, &b->scope, end);
    const mo_part *last = other ? &end->call.reference->part[end->call.reference->parts - 1] : NULL;
    if (!other || last->name != array->name || (other != bus && !is_marked(m, mark, other)))
        return true;
    if (last->subscripts != array->subscripts) {
        mo_error(m->context, DAE_E_MODEL, last->place,
                 "'%s' has %d subscripts here and %d elsewhere", last->name, last->subscripts,
                 array->subscripts);
        mo_hint(m->context, "declare '%s' in the expandable connector '%s'", last->name,
                bus->view->path);
        return false;
    }
    for (int d = 0; d < last->subscripts; d++) {
        int k;
        if (last->subscript[d]->kind == MO_A_COLON) {
            mo_error(m->context, DAE_E_UNSUPPORTED, last->place,
                     "a part of '%s' on a bus that does not declare it", last->name);
            mo_hint(m->context, "declare '%s' in the expandable connector '%s'", last->name,
                    bus->view->path);
            return false;
        }
        if (!mo_need_integer(m, &b->scope, last->subscript[d], "the subscript on a bus", &k))
            return false;
        if (k < 1) {
            mo_error(m->context, DAE_E_MODEL, last->place, "the subscript %d of '%s' is too small",
                     k, last->name);
            mo_hint(m->context, "subscripts begin with 1");
            return false;
        }
        size[d] = k > size[d] ? k : size[d];
    }
    return true;
}

/* An array of elements like the one given; NULL: an error was reported. */
static mo_value *array_of(mo_model *m, const mo_object *bus, const mo_part *array, mo_value *like)
{
    const unsigned char *mark = connected_with(m, bus);
    int *size = dae_arena_take(&m->context->arena, (size_t)array->subscripts, sizeof *size);
    for (size_t i = 0; i < m->buses; i++) {
        const mo_bus_clause *b = &m->bus[i];
        if (!b->left && (!enlarge(m, b, b->clause->left, array, bus, mark, size) ||
                         !enlarge(m, b, b->clause->right, array, bus, mark, size)))
            return NULL;
    }
    if (like->kind != MO_V_SCALAR && like->kind != MO_V_OBJECT) {
        mo_error(m->context, DAE_E_UNSUPPORTED, array->place,
                 "arrays are elements of '%s' in an expandable connector", array->name);
        mo_hint(m->context, "declare '%s' in the expandable connector '%s'", array->name,
                bus->view->path);
        return NULL;
    }
    mo_value *all = like->kind == MO_V_SCALAR ? mo_new_array(m, array->subscripts, size, like->type)
                                              : mo_new_items(m, array->subscripts, size);
    for (size_t i = 0; i < all->count; i++)
        if (like->kind == MO_V_SCALAR)
            all->element[i] = like->scalar;
        else
            all->item[i] = like;
    return all;
}

static bool make(mo_model *m, mo_bus_clause *b, mo_object *bus, const mo_ast *at,
                 const mo_ast *other)
{
    m->connecting = true;
    mo_value *like = mo_reference_value(m, &b->scope, other->call.reference);
    m->connecting = false;
    const mo_reference *r = at->call.reference;
    const mo_part *last = &r->part[r->parts - 1];
    b->gone = like->kind == MO_V_NONE; /* or after an error that was reported */
    if (b->gone) return true;
    if (last->subscripts && !(like = array_of(m, bus, last, like))) return true;
    if (!mo_add_member(m, bus, last->name, like)) {
        mo_error(m->context, DAE_E_MODEL, at->place, "'%s' cannot come into being in '%s'",
                 last->name, bus->name);
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
        if (!member || member->progress != MO_DONE || member->disabled) continue;
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
    if (b->done) return false;
    mo_object *left = missing(m, &b->scope, b->clause->left);
    mo_object *right = missing(m, &b->scope, b->clause->right);
    if (left && right) return false;
    b->done = true;
    if (left) return make(m, b, left, b->clause->left, b->clause->right);
    return right ? make(m, b, right, b->clause->right, b->clause->left) : true;
}

void mo_finish_expandable(mo_model *m)
{
    bool changed = true;
    while (changed && !m->context->errors) {
        changed = false;
        for (size_t i = 0; i < m->buses; i++) changed |= advance(m, &m->bus[i]);
    }
    for (size_t i = 0; i < m->buses && !m->context->errors; i++) {
        const mo_bus_clause *b = &m->bus[i];
        if (!b->left && !b->done) {
            mo_error(m->context, DAE_E_MODEL, b->clause->place,
                     "neither end of the connection exists: '%s' and '%s'",
                     mo_ast_text(m->context, b->clause->left),
                     mo_ast_text(m->context, b->clause->right));
            mo_hint(m->context, "connect one of them to a component that has it");
        } else if (!b->gone)
            mo_connect_now(m, &b->scope, b->clause);
    }
}

/* ------------------------------------------------------------------ not used --------- */

bool mo_in_expandable(mo_model *m, const mo_member *member)
{
    for (const mo_object *o = member->object; o; o = o->parent)
        if (mo_is_kind(m, o->view, MO_EXPANDABLE_CONNECTOR)) return true;
    return false;
}

static void mark_when(bool *mark, const flat_when *w)
{
    for (; w; w = w->otherwise) {
        mark[w->condition] = true;
        for (const flat_action *a = w->action; a < w->action + w->actions; a++)
            mark[a->target] = mark[a->value] = mark[a->message] = true;
    }
}

/* The variables that occur somewhere; operands of a node have smaller numbers. */
static void mark_used(mo_model *m, bool *used)
{
    const flat_model *f = m->flat;
    bool *mark = dae_arena_take(&m->context->arena, m->graph->nodes + 1, sizeof *mark);
    for (size_t i = 0; i < f->equations; i++)
        mark[f->equation[i].left] = mark[f->equation[i].right] = true;
    for (size_t i = 0; i < f->initials; i++)
        mark[f->initial[i].left] = mark[f->initial[i].right] = true;
    for (size_t i = 0; i < f->assertions; i++)
        mark[f->assertion[i].condition] = mark[f->assertion[i].message] = true;
    for (size_t i = 0; i < f->whens; i++) mark_when(mark, f->when[i]);
    for (size_t i = 0; i < f->variables; i++)
        mark[f->variable[i].binding] = mark[f->variable[i].start] = true;
    for (ex_id e = (ex_id)m->graph->nodes; e-- > 1;) {
        const ex_node *n = ex_at(m->graph, e);
        if (!mark[e]) continue;
        if (n->op == EX_VARIABLE || n->op == EX_PRE) used[n->a] = true;
        for (size_t k = 0; k < ex_operand_count(m->graph, e); k++)
            mark[ex_operand(m->graph, e, k)] = true;
    }
}

/* Of every variable: is it of a bus, and not used? Called before connections are equations. */
bool *mo_idle_variables(mo_model *m, bool *used)
{
    size_t n = m->flat->variables;
    dae_arena *arena = &m->context->arena;
    bool *idle = dae_arena_take(arena, n + 1, sizeof *idle);
    bool *alive = dae_arena_take(arena, n + 1, sizeof *alive);
    uint32_t *up = dae_arena_take(arena, n + 1, sizeof *up);
    mark_used(m, used);
    for (size_t i = 0; i < n; i++) up[i] = (uint32_t)i;
    for (size_t i = 0; i < m->edges; i++) /* both faces of a variable are one here */
        up[mo_set_root(up, m->edge[i].a / 2)] = mo_set_root(up, m->edge[i].b / 2);
    for (size_t i = 0; i < n; i++)
        if (used[i] || m->flat->variable[i].variability <= FLAT_PARAMETER ||
            !mo_in_expandable(m, m->owner[i]))
            alive[mo_set_root(up, (uint32_t)i)] = true;
    for (size_t i = 0; i < n; i++) idle[i] = !alive[mo_set_root(up, (uint32_t)i)];
    return idle;
}
