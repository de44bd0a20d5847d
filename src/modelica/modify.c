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
    *mod = (mo_mod){ .view = view,
                     .object = object,
                     .place = a->place,
                     .depth = depth,
                     .each = each,
                     .final = a->final };
    return mod;
}

/* 'each' is for each element of each array around (section 7.2.5). */
static unsigned each_up_to(int depth)
{
    return depth < 31 ? (2u << depth) - 1 : ~0u;
}

/* `redeclare` as a modification, or as an element of a derived class; what it modifies itself is at
 * the depth given. */
static mo_mod *bind_redeclaration(mo_model *m, mo_element *e, mo_view *view, mo_object *object,
                                  int depth, unsigned each)
{
    mo_mod *mod = dae_arena_take(&m->context->arena, 1, sizeof *mod);
    *mod = (mo_mod){ .name = e->kind == MO_NESTED ? e->nested->name : e->name,
                     .redeclare = e,
                     .redeclared_in = view,
                     .redeclared_by = object,
                     .view = view,
                     .object = object,
                     .place = e->place,
                     .final = e->final,
                     .each = each,
                     .depth = depth };
    if (e->kind == MO_COMPONENT && e->modifier) {
        mod->value = e->modifier->value;
        mod->broken = e->modifier->broken;
        mod->sub = bind_list(m, e->modifier->item, e->modifier->items, view, object, depth, each);
    }
    mod->cache = dae_arena_take(&m->context->arena, 1, sizeof *mod->cache);
    return mod;
}

mo_mod *mo_bind_redeclaration(mo_model *m, mo_element *e, mo_view *view)
{
    return bind_redeclaration(m, e, view, NULL, 0, 0);
}

/* One item of a list; a(b.c = 1) is a(b(c = 1)). The prefixes belong to the last name. */
static mo_mod *bind_item(mo_model *m, const mo_modifier *a, mo_view *view, mo_object *object,
                         int depth, unsigned each)
{
    if (a->element) {
        each = a->each ? each_up_to(depth) : each;
        mo_mod *new = bind_redeclaration(m, a->element, view, object, depth + 1, each);
        new->place = a->place;
        new->final |= a->final;
        new->depth = depth;
        return new;
    }
    mo_mod *mod = new_mod(m, a, view, object, depth, each);
    mo_mod *first = mod;
    for (int i = 0; i < a->name->parts; i++) {
        mod->name = a->name->part[i].name;
        if (i + 1 < a->name->parts) {
            mod->final = false;
            mod->sub = new_mod(m, a, view, object, depth + i + 1, each);
            mod = mod->sub;
        }
    }
    if (a->each) mod->each = each_up_to(mod->depth);
    mod->value = a->value;
    mod->broken = a->broken;
    mod->cache = dae_arena_take(&m->context->arena, 1, sizeof *mod->cache);
    mod->sub = bind_list(m, a->item, a->items, view, object, mod->depth + 1, mod->each);
    return first;
}

/* One list gives one value to an element, and to each of its attributes (section 7.2.4). */
static void check_once(mo_model *m, const mo_mod *there, const mo_mod *mod)
{
    if (!there) return;
    if (there->value && mod->value) {
        mo_error(m->context, DAE_E_MODEL, mod->place, "'%s' is modified twice", mod->name);
        mo_hint(m->context, "remove one of the two");
    }
    for (const mo_mod *sub = mod->sub; sub; sub = sub->next)
        check_once(m, mo_find_mod(there->sub, sub->name), sub);
}

static mo_mod *bind_list(mo_model *m, mo_modifier *const *item, int count, mo_view *view,
                         mo_object *object, int depth, unsigned each)
{
    mo_mod *list = NULL, **end = &list;
    for (int i = 0; i < count; i++) {
        if (item[i]->deselects || (!item[i]->name && !item[i]->element)) continue;
        mo_mod *mod = bind_item(m, item[i], view, object, depth, each);
        mo_mod *there = mo_find_mod(list, mod->name);
        check_once(m, there, mod);
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
    if (!a) return NULL;
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
        if (list->name == name) return list;
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
    if (!weak->redeclare->replaceable && weak->redeclare != strong->redeclare &&
        !mo_keeps_type(m, weak->redeclare, weak->redeclared_in, strong->redeclare,
                       strong->redeclared_in)) {
        mo_error(m->context, DAE_E_MODEL, strong->place, "'%s' is not replaceable any more",
                 strong->name);
        int line, column;
        mo_find_line(m->context, weak->place, &line, &column);
        mo_why(m->context, "the redeclaration in line %d is without 'replaceable'", line);
        mo_hint(m->context, "write 'redeclare replaceable' there");
    }
    if (weak->redeclare->constraint)
        mo_fits_constraint(m, weak->redeclare, weak->redeclared_in, strong);
    const mo_mod *constraint = mo_bind_mods(m, weak->redeclare->constraint_modifier,
                                            weak->redeclared_in, weak->redeclared_by);
    if (!constraint && !weak->weak) return strong;
    mo_mod *both = copy_of(m, strong);
    both->weak =
        mo_merge(m, strong->weak, mo_merge(m, constraint ? constraint->sub : NULL, weak->weak));
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
        if (!copy->value && !copy->sub && !copy->redeclare) continue;
        *end = copy;
        end = &copy->next;
    }
    return out;
}

/* Two modifications of the same element. The value of the strong one counts; where it has none,
 * that of the weak. */
mo_mod *mo_merge_one(mo_model *m, mo_mod *strong, mo_mod *weak)
{
    if (!strong || !weak) return strong ? strong : weak;
    if (weak->final && (strong->value || strong->redeclare || strong->broken) && !strong->used) {
        mo_error(m->context, DAE_E_MODEL, strong->place, "'%s' is final and cannot be modified",
                 strong->name ? strong->name : "this element");
        mo_hint(m->context,
                "remove the modification, or the 'final' where the element is declared");
    }
    if (strong->redeclare && weak->redeclare) return redeclared_twice(m, strong, weak);
    mo_mod *both = copy_of(m, strong);
    if (!strong->value && !strong->broken && (weak->value || weak->broken)) {
        both->value = weak->value;
        both->broken = weak->broken;
        both->view = weak->view;
        both->object = weak->object;
        both->cache = weak->cache;
        both->each = weak->each;
        both->depth = weak->depth;
        both->place = weak->place;
    }
    if (!strong->redeclare && weak->redeclare) {
        both->redeclare = weak->redeclare;
        both->redeclared_in = weak->redeclared_in;
        both->redeclared_by = weak->redeclared_by;
    }
    both->final = strong->final || weak->final;
    both->sub = mo_merge(m, strong->sub,
                         strong->value && weak->sub ? without_values(m, weak->sub) : weak->sub);
    return both;
}

mo_mod *mo_merge(mo_model *m, mo_mod *strong, mo_mod *weak)
{
    if (!strong || !weak) return strong ? strong : weak;
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
        if (!copy->redeclared_by) copy->redeclared_by = object;
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
    if (place) *place = mod->place;
    if (!mod->cache) mod->cache = dae_arena_take(&m->context->arena, 1, sizeof *mod->cache);
    mo_value *v = mod->object ? *mod->cache : NULL;
    if (!v) {
        mo_scope scope = { .object = home, .view = mod->view, .env = mod->env };
        v = mo_evaluate(m, &scope, mod->value);
        if (mod->object) *mod->cache = v;
    }
    mo_object *way[64];
    int levels = 0;
    for (mo_object *o = target; o && o != home && levels < 64; o = o->parent) way[levels++] = o;
    for (int k = levels; k-- > 0;) {
        mo_object *o = way[k];
        int depth = levels - 1 - k;
        if (!o->holder || !o->holder->dimensions || (depth < 31 && (mod->each >> depth & 1u)))
            continue;
        if (v->kind != MO_V_ARRAY)
            return v; /* a scalar for all: said by whoever checks the sizes */
        for (int d = 0; d < o->holder->dimensions && v->kind == MO_V_ARRAY; d++) {
            if (o->holder->size[d] != v->size[0]) {
                if (o->index[d] > 1) return mo_none(m); /* said for the first */
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
