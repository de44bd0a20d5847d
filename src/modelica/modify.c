/* modify.c: modifications: bound to the scope they are written in, merged from the outside in.
 *
 * The outer modification wins, member by member: a(b = 1) outside and a(b = 2, c = 3) inside
 * give a(b = 1, c = 3). A modification that reaches an array of components has one more
 * dimension for it, unless `each` is said: mo_mod_value takes the element.
 */
#include "modelica/instance.h"

#include <string.h>

static mo_mod *bind_list(mo_model *m, mo_modifier *const *item, int count, mo_view *view,
                         mo_object *object, int depth, unsigned each);

static mo_mod *new_mod(mo_model *m, const mo_modifier *a, mo_view *view, mo_object *object,
                       int depth, unsigned each)
{
    mo_mod *mod = dae_arena_take(&m->context->arena, 1, sizeof *mod);
    *mod = (mo_mod){ .view = view, .object = object, .place = a->place, .depth = depth,
                     .each = each, .final = a->final };
    return mod;
}

/* One item of a list; a(b.c = 1) is a(b(c = 1)). */
static mo_mod *bind_item(mo_model *m, const mo_modifier *a, mo_view *view, mo_object *object,
                         int depth, unsigned each)
{
    if (a->each && depth < 31)
        each |= 1u << depth;
    mo_mod *mod = new_mod(m, a, view, object, depth, each);
    if (a->element) {
        mod->redeclare = a->element;
        mod->name = a->element->kind == MO_NESTED ? a->element->nested->name : a->element->name;
        if (a->element->kind == MO_COMPONENT && a->element->modifier) {
            mo_mod *inner = mo_bind_mods(m, a->element->modifier, view, object);
            mod->sub = inner->sub;
            mod->value = inner->value;
        }
        mod->cache = dae_arena_take(&m->context->arena, 1, sizeof *mod->cache);
        return mod;
    }
    mo_mod *first = mod;
    for (int i = 0; i < a->name->parts; i++) {
        mod->name = a->name->part[i].name;
        if (i + 1 < a->name->parts) {
            mod->sub = new_mod(m, a, view, object, depth + i + 1, each);
            mod = mod->sub;
        }
    }
    mod->value = a->value;
    mod->broken = a->broken;
    mod->cache = dae_arena_take(&m->context->arena, 1, sizeof *mod->cache);
    mod->sub = bind_list(m, a->item, a->items, view, object, mod->depth + 1, each);
    return first;
}

static mo_mod *bind_list(mo_model *m, mo_modifier *const *item, int count, mo_view *view,
                         mo_object *object, int depth, unsigned each)
{
    mo_mod *list = NULL, **end = &list;
    for (int i = 0; i < count; i++) {
        if (!item[i]->name && !item[i]->element)
            continue;
        mo_mod *mod = bind_item(m, item[i], view, object, depth, each);
        mo_mod *there = mo_find_mod(list, mod->name);
        if (there && there->value && mod->value) {
            mo_error(m->context, DAE_E_MODEL, mod->place, "'%s' is modified twice", mod->name);
            mo_hint(m->context, "remove one of the two");
        }
        if (there) {
            list = mo_merge(m, list, mod);
            for (end = &list; *end;) end = &(*end)->next;
        } else {
            *end = mod;
            end = &mod->next;
        }
    }
    return list;
}

/* A modifier (…) = value of a declaration: an item without a name. */
mo_mod *mo_bind_mods(mo_model *m, const mo_modifier *a, mo_view *view, mo_object *object)
{
    if (!a)
        return NULL;
    mo_mod *mod = new_mod(m, a, view, object, 0, a->each ? 1u : 0u);
    mod->value = a->value;
    mod->broken = a->broken;
    mod->cache = dae_arena_take(&m->context->arena, 1, sizeof *mod->cache);
    mod->sub = bind_list(m, a->item, a->items, view, object, 0, mod->each);
    return mod;
}

mo_mod *mo_find_mod(mo_mod *list, const char *name)
{
    for (; list; list = list->next)
        if (list->name == name)
            return list;
    return NULL;
}

static mo_mod *copy_of(mo_model *m, const mo_mod *mod)
{
    mo_mod *copy = dae_arena_take(&m->context->arena, 1, sizeof *copy);
    *copy = *mod;
    copy->next = NULL;
    return copy;
}

/* The outer redeclaration takes the place of the inner one, and keeps to its constraint. */
static mo_mod *redeclared_twice(mo_model *m, mo_mod *strong, const mo_mod *weak)
{
    if (!weak->redeclare->replaceable && weak->redeclare != strong->redeclare) {
        mo_error(m->context, DAE_E_MODEL, strong->place, "'%s' is not replaceable any more",
                 strong->name);
        int line, column;
        mo_find_line(m->context, weak->place, &line, &column);
        mo_why(m->context, "the redeclaration in line %d is without 'replaceable'", line);
        mo_hint(m->context, "write 'redeclare replaceable' there");
    }
    const mo_mod *constraint = mo_bind_mods(m, weak->redeclare->constraint_modifier, weak->view,
                                            weak->object);
    if (!constraint && !weak->weak)
        return strong;
    mo_mod *both = copy_of(m, strong);
    both->weak = mo_merge(m, strong->weak,
                          mo_merge(m, constraint ? constraint->sub : NULL, weak->weak));
    return both;
}

/* r = other replaces what a weaker modification says about the values of its fields, r(a = 5); what it
 * says about attributes, x(start = 1), stays. */
static mo_mod *without_values(mo_model *m, const mo_mod *list)
{
    mo_mod *out = NULL, **end = &out;
    for (; list; list = list->next) {
        mo_mod *copy = copy_of(m, list);
        if (!mo_is_attribute(list->name)) {
            copy->value = NULL;
            copy->sub = without_values(m, list->sub);
        }
        if (!copy->value && !copy->sub && !copy->redeclare)
            continue;
        *end = copy;
        end = &copy->next;
    }
    return out;
}

/* Two modifications of the same element. The value of the strong one counts; where it has none,
 * that of the weak. */
mo_mod *mo_merge_one(mo_model *m, mo_mod *strong, mo_mod *weak)
{
    if (!strong || !weak)
        return strong ? strong : weak;
    if (weak->final && (strong->value || strong->redeclare) && !strong->used) {
        mo_error(m->context, DAE_E_MODEL, strong->place, "'%s' is final and cannot be modified",
                 strong->name ? strong->name : "this element");
        mo_hint(m->context, "remove the modification, or the 'final' where the element is declared");
    }
    if (strong->redeclare && weak->redeclare)
        return redeclared_twice(m, strong, weak);
    mo_mod *both = copy_of(m, strong);
    if (!strong->value && weak->value) {
        both->value = weak->value;
        both->view = weak->view;
        both->object = weak->object;
        both->cache = weak->cache;
        both->each = weak->each;
        both->depth = weak->depth;
        both->place = weak->place;
    }
    if (!strong->redeclare && weak->redeclare) {
        both->redeclare = weak->redeclare;
        if (strong->value || !weak->value) {
            both->view = weak->view;
            both->object = weak->object;
        }
    }
    both->final = strong->final || weak->final;
    both->sub = mo_merge(m, strong->sub, strong->value && weak->sub ? without_values(m, weak->sub)
                                                                    : weak->sub);
    return both;
}

mo_mod *mo_merge(mo_model *m, mo_mod *strong, mo_mod *weak)
{
    if (!strong || !weak)
        return strong ? strong : weak;
    mo_mod *list = NULL, **end = &list;
    for (mo_mod *s = strong; s; s = s->next) {
        mo_mod *w = mo_find_mod(weak, s->name);
        *end = w ? copy_of(m, mo_merge_one(m, s, w)) : copy_of(m, s);
        end = &(*end)->next;
    }
    for (mo_mod *w = weak; w; w = w->next)
        if (!mo_find_mod(strong, w->name)) {
            *end = copy_of(m, w);
            end = &(*end)->next;
        }
    return list;
}

/* The list as seen from outside the object: what was written in its class gets its scope. */
mo_mod *mo_in_object(mo_model *m, mo_mod *list, mo_object *object)
{
    mo_mod *out = NULL, **end = &out;
    for (; list; list = list->next) {
        mo_mod *copy = copy_of(m, list);
        if (!copy->object) {
            copy->object = object;
            copy->cache = dae_arena_take(&m->context->arena, 1, sizeof *copy->cache);
        }
        copy->sub = mo_in_object(m, copy->sub, object);
        *end = copy;
        end = &copy->next;
    }
    return out;
}

/* The value of a modification for `target`: evaluated once where it is written, then indexed by
 * the places that target and the objects around it have in their arrays, up to that scope. */
mo_value *mo_mod_value(mo_model *m, mo_mod *mod, mo_object *target, mo_place *place)
{
    mo_object *home = mod->object ? mod->object : target;
    if (place)
        *place = mod->place;
    if (!mod->cache)
        mod->cache = dae_arena_take(&m->context->arena, 1, sizeof *mod->cache);
    mo_value *v = mod->object ? *mod->cache : NULL;
    if (!v) {
        mo_scope scope = { .object = home, .view = mod->view, .env = mod->env };
        v = mo_evaluate(m, &scope, mod->value);
        if (mod->object)
            *mod->cache = v;
    }
    mo_object *way[64];
    int levels = 0;
    for (mo_object *o = target; o && o != home && levels < 64; o = o->parent)
        way[levels++] = o;
    for (int k = levels; k-- > 0;) {
        mo_object *o = way[k];
        int depth = levels - 1 - k;
        if (!o->holder || !o->holder->dimensions || (depth < 31 && (mod->each >> depth & 1u)))
            continue;
        if (v->kind != MO_V_ARRAY)
            return v; /* a scalar for all: said by whoever checks the sizes */
        for (int d = 0; d < o->holder->dimensions && v->kind == MO_V_ARRAY; d++) {
            if (o->index[d] > v->size[0]) {
                mo_error(m->context, DAE_E_MODEL, mod->place,
                         "the modification has %d elements for an array of %d", v->size[0],
                         o->holder->size[d]);
                mo_hint(m->context, "give one value for each element, or write 'each'");
                return mo_none(m);
            }
            v = mo_row(m, v, o->index[d] - 1);
        }
    }
    return v;
}
