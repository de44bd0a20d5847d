/* deselect.c: what `extends B(break x, break connect(a, b))` leaves out of B (section 7.4).
 *
 * A view that is inherited keeps the modifier of its extends-clause. A component that it deselects is
 * not inherited, and no connection with it; a connection that it deselects is found by its text.
 * Nothing needs to be evaluated for that, and conditions of components do not matter.
 */
#include "modelica/instance.h"

static bool is_component(const mo_modifier *item, const char *name)
{
    return item->deselects && !item->connection && item->name->part[0].name == name;
}

static bool names_component(const mo_modifier *item, const mo_ast *end)
{
    return end->kind == MO_A_REFERENCE && !end->call.reference->global &&
           is_component(item, end->call.reference->part[0].name);
}

static bool matches(const mo_modifier *item, const mo_clause *connection)
{
    const mo_clause *c = item->connection;
    if (!item->deselects) return false;
    if (!c)
        return names_component(item, connection->left) || names_component(item, connection->right);
    return (mo_same_ast(c->left, connection->left) && mo_same_ast(c->right, connection->right)) ||
           (mo_same_ast(c->left, connection->right) && mo_same_ast(c->right, connection->left));
}

bool mo_deselects(const mo_modifier *modifier, const char *name)
{
    for (int i = 0; modifier && i < modifier->items; i++)
        if (is_component(modifier->item[i], name)) return true;
    return false;
}

/* Is a connection that is written in the class left out by one of those who inherit it? */
bool mo_is_deselected(const mo_view *v, const mo_clause *connection)
{
    for (; v; v = v->derived)
        for (int i = 0; v->inherited_by && i < v->inherited_by->items; i++)
            if (matches(v->inherited_by->item[i], connection)) return true;
    return false;
}

static bool found_in(const mo_modifier *item, mo_clause *const *clause, int count)
{
    for (int i = 0; i < count; i++) {
        if (clause[i]->kind == MO_C_CONNECT && matches(item, clause[i])) return true;
        for (int k = 0; k < clause[i]->branches; k++)
            if (found_in(item, clause[i]->branch[k].clause, clause[i]->branch[k].clauses))
                return true;
    }
    return false;
}

static bool has_connection(const mo_modifier *item, const mo_view *v)
{
    for (int i = 0; i < v->def->sections; i++)
        if (found_in(item, v->def->section[i].clause, v->def->section[i].clauses)) return true;
    for (size_t i = 0; i < v->bases; i++)
        if (has_connection(item, v->base[i])) return true;
    return false;
}

/* What is deselected must be there. */
void mo_check_deselections(mo_model *m, mo_view *base)
{
    for (int i = 0; base->inherited_by && i < base->inherited_by->items; i++) {
        const mo_modifier *item = base->inherited_by->item[i];
        if (!item->deselects) continue;
        if (item->connection && !has_connection(item, base)) {
            mo_error(m->context, DAE_E_MODEL, item->place, "there is no such connection in '%s'",
                     base->path);
            mo_hint(m->context, "write it as it is written there, or remove 'break'");
        } else if (!item->connection) {
            mo_entry *e = mo_find_entry(m, base, item->name->part[0].name);
            if (e && e->element->kind == MO_COMPONENT) continue;
            mo_error(m->context, DAE_E_MODEL, item->place, "there is no component '%s' in '%s'",
                     item->name->part[0].name, base->path);
            mo_hint(m->context, "'break' leaves out a component or a connection of the base class");
        }
    }
}
