/* view.c: a class in a context: its elements, those of its bases, all modified. */
#include "modelica/instance.h"

#include <string.h>

mo_view *mo_new_view(mo_model *m, mo_class *def, mo_view *outer, mo_mod *mods)
{
    mo_view *v = dae_arena_take(&m->context->arena, 1, sizeof *v);
    *v = (mo_view){ .def = def, .outer = outer, .mods = mods };
    v->path = outer && outer->path && outer->path[0]
                  ? dae_arena_print(&m->context->arena, "%s.%s", outer->path, def->name)
              : def->name ? def->name
                          : "";
    return v;
}

mo_view *mo_modified_view(mo_model *m, const mo_view *v, mo_mod *mods)
{
    mo_view *copy = mo_new_view(m, v->def, v->outer, mo_merge(m, mods, v->mods));
    copy->path = v->path;
    copy->weak = v->weak;
    return copy;
}

/* ------------------------------------------------------------------ the table -------- */

static size_t slot_of(const mo_view *v, const char *name)
{
    uintptr_t bits = (uintptr_t)name;
    return (size_t)((bits >> 4) * 0x9E3779B97F4A7C15u >> 20) & (size_t)(v->table_size - 1);
}

static mo_entry *in_table(const mo_view *v, const char *name)
{
    if (!v->table_size) return NULL;
    for (mo_entry *e = v->table[slot_of(v, name)]; e; e = e->chain)
        if (e->name == name) return e;
    return NULL;
}

static void enter(mo_view *v, mo_entry *e)
{
    size_t slot = slot_of(v, e->name);
    e->chain = v->table[slot];
    v->table[slot] = e;
}

static void add_entry(mo_model *m, mo_view *v, mo_entry *e)
{
    dae_arena *arena = &m->context->arena;
    if ((int)v->entries >= v->table_size) {
        v->table_size = v->table_size ? 4 * v->table_size : 16;
        v->table = dae_arena_take(arena, (size_t)v->table_size, sizeof *v->table);
        for (size_t i = 0; i < v->entries; i++) enter(v, v->entry[i]);
    }
    e->number = (int)v->entries;
    v->entry = dae_arena_grow(arena, v->entry, v->entries, &v->entry_capacity, sizeof *v->entry);
    v->entry[v->entries++] = e;
    enter(v, e);
}

/* ------------------------------------------------------------------ elements --------- */

/* The first public component of `type` that `other` does not have; NULL: it has them all. */
static const char *lacking(mo_model *m, mo_view *type, mo_view *other)
{
    mo_expand(m, type);
    mo_expand(m, other);
    if (type->primitive || other->primitive)
        return type->primitive == other->primitive ? NULL : "a value of the same type";
    for (size_t i = 0; i < type->entries; i++) {
        const mo_entry *e = type->entry[i];
        if (e->element->kind == MO_COMPONENT && !e->is_protected && !in_table(other, e->name))
            return e->name;
    }
    return NULL;
}

static mo_view *class_of_element(mo_model *m, const mo_element *e, mo_view *where)
{
    mo_scope scope = { .view = where };
    if (e->kind == MO_COMPONENT) return mo_find_class(m, &scope, e->type, false);
    return e->nested->is_short && e->nested->alias
               ? mo_find_class(m, &scope, e->nested->alias, false)
               : NULL;
}

/* What is put in the place of a replaceable element must have all that its constraining type has:
 * that of 'constrainedby', else its own. */
bool mo_fits_constraint(mo_model *m, const mo_element *old, mo_view *old_in, const mo_mod *mod)
{
    mo_scope scope = { .view = old_in };
    mo_view *type = old->constraint ? mo_find_class(m, &scope, old->constraint, true)
                                    : class_of_element(m, old, old_in);
    mo_scope redeclaration = { .view = mod->redeclared_in };
    mo_view *new = mod->redeclare->constraint && old->constraint
                       ? mo_find_class(m, &redeclaration, mod->redeclare->constraint, true)
                       : class_of_element(m, mod->redeclare, mod->redeclared_in);
    if (!type || !new || type->progress == MO_UNDER_WAY || new->progress == MO_UNDER_WAY)
        return true;
    const char *missing = lacking(m, type, new);
    if (!missing) return true;
    mo_error(m->context, DAE_E_MODEL, mod->place, "'%s' cannot be redeclared as '%s'", mod->name,
             new->path);
    mo_why(m->context, "it has to have all that '%s' has, and lacks '%s'", type->path, missing);
    mo_hint(m->context, "use a class that extends '%s'", type->path);
    return false;
}

/* The class that short classes are other names of. */
static const mo_class *class_behind(mo_model *m, mo_view *v)
{
    while (v->def->is_short && v->progress != MO_UNDER_WAY) {
        mo_expand(m, v);
        if (!v->bases) break;
        v = v->base[0];
    }
    return v->def;
}

/* What is not replaceable may still be redeclared with the same type, to give other sizes or another
 * variability (section 7.3.3). */
bool mo_keeps_type(mo_model *m, const mo_element *old, mo_view *old_in, const mo_element *new,
                   mo_view *new_in)
{
    if (old->kind != new->kind) return false;
    if (old->kind == MO_NESTED && (!old->nested->alias || !new->nested->alias))
        return false; /* a class that is written out is a type of its own */
    mo_view *type = class_of_element(m, old, old_in), *other = class_of_element(m, new, new_in);
    if ((!type && old_in->progress == MO_UNDER_WAY) || (!other && new_in->progress == MO_UNDER_WAY))
        return true; /* not seen before the bases are there */
    if (!type || !other || class_behind(m, type) != class_behind(m, other)) return false;
    if (old->kind == MO_NESTED)
        return old->nested->alias_dimensions == new->nested->alias_dimensions;
    int sizes = new->dimensions + new->type_dimensions;
    return sizes == 0 || sizes == old->dimensions + old->type_dimensions;
}

/* A component that is redeclared keeps prefixes, sizes and condition where none are given; what is
 * kept means what it meant where it is written. */
static void keep(mo_entry *e, mo_element *new, const mo_entry *before)
{
    const mo_element *old = before->element;
    if (!new->dimensions && !new->type_dimensions) {
        new->dimension = old->dimension;
        new->dimensions = old->dimensions;
        new->type_dimension = old->type_dimension;
        new->type_dimensions = old->type_dimensions;
        e->sizes_in = before->sizes_in;
    }
    if (!new->condition) {
        new->condition = old->condition;
        e->condition_in = before->condition_in;
    }
    if (new->variability == MO_CONTINUOUS) new->variability = old->variability;
    new->flow |= old->flow;
    new->input |= old->input;
    new->output |= old->output;
}

/* A redeclaration puts another element in the place of the one declared. */
static void redeclare(mo_model *m, mo_entry *e, mo_mod *mod)
{
    mo_element *old = e->element, *new = mod->redeclare;
    if (!old->replaceable && old != new &&
        !mo_keeps_type(m, old, e->where, new, mod->redeclared_in)) {
        mo_error(m->context, DAE_E_MODEL, mod->place, "'%s' is not replaceable", e->name);
        mo_hint(m->context, "declare it 'replaceable', or modify it without 'redeclare'");
        return;
    }
    if (old->kind != new->kind) {
        mo_error(m->context, DAE_E_MODEL, mod->place,
                 "'%s' is redeclared as another kind of element", e->name);
        mo_hint(m->context, "a component is redeclared as a component, a class as a class");
        return;
    }
    if (old->kind == MO_COMPONENT && old->variability == MO_CONSTANT) {
        mo_error(m->context, DAE_E_MODEL, mod->place, "'%s' is a constant and cannot be redeclared",
                 e->name);
        mo_hint(m->context, "modify its value: %s = ...", e->name);
        return;
    }
    if (!mo_fits_constraint(m, old, e->where, mod)) return;
    mo_element *merged = dae_arena_take(&m->context->arena, 1, sizeof *merged);
    *merged = *new;
    if (!new->inner && !new->outer) {
        merged->inner = old->inner;
        merged->outer = old->outer;
    }
    merged->is_protected = old->is_protected;
    mo_entry *before = dae_arena_take(&m->context->arena, 1, sizeof *before);
    *before = *e;
    before->mod = NULL;
    e->before = before;
    e->element = merged;
    e->where = e->sizes_in = e->condition_in = mod->redeclared_in;
    if (new->kind == MO_COMPONENT) keep(e, merged, before);
    e->nested = NULL;
}

/* The modification from outside, also under the name that the element had before. */
static mo_mod *find_outer(mo_model *m, mo_view *v, const char *name)
{
    mo_mod *outer = mo_find_mod(v->mods, name);
    const char *older = !outer && v->mods && v->path ? mo_older_element(v->path, name) : NULL;
    return older ? mo_find_mod(v->mods, mo_name(m->context, older)) : outer;
}

static bool same_types(mo_model *m, mo_view *x, mo_view *y)
{
    if (!x || !y || x->def == y->def || x->progress == MO_UNDER_WAY || y->progress == MO_UNDER_WAY)
        return true;
    mo_expand(m, x);
    mo_expand(m, y);
    return x->primitive && x->primitive == y->primitive &&
           (x->primitive != MO_ENUMERATION || x->enumeration->def == y->enumeration->def);
}

/* Why two components of the same name are not identical; NULL: they are. */
static const char *unlike(mo_model *m, const mo_entry *first, const mo_entry *second)
{
    const mo_element *a = first->element, *b = second->element;
    mo_view *x = class_of_element(m, a, first->where), *y = class_of_element(m, b, second->where);
    const mo_ast *value = first->mod ? first->mod->value : NULL;
    const mo_ast *other = second->mod ? second->mod->value : NULL;
    if (!same_types(m, x, y))
        return dae_arena_print(&m->context->arena, "their types are %s and %s", x->path, y->path);
    if (a->dimensions + a->type_dimensions != b->dimensions + b->type_dimensions)
        return "they have different numbers of dimensions";
    if (a->variability != b->variability || a->flow != b->flow || a->stream != b->stream ||
        a->input != b->input || a->output != b->output)
        return "they have different prefixes";
    if (!mo_same_ast(value, other))
        return dae_arena_print(
            &m->context->arena, "the first has %s%s, the other %s%s",
            value ? "the value " : "no value", value ? mo_ast_text(m->context, value) : "",
            other ? "the value " : "no value", other ? mo_ast_text(m->context, other) : "");
    return NULL;
}

/* An element that is inherited and declared again, or inherited twice, must be the same; the first
 * is kept (section 7.1). */
static void same_again(mo_model *m, const mo_view *v, const mo_entry *first, const mo_entry *second)
{
    const mo_element *a = first->element, *b = second->element;
    if (a->redeclare || b->redeclare || a->replaceable) return;
    const char *why = NULL;
    if (a->kind != b->kind)
        why = "one is a class, the other a component";
    else if (a->kind == MO_COMPONENT)
        why = unlike(m, first, second);
    if (!why) return;
    mo_error(m->context, DAE_E_MODEL, second->place,
             "'%s' is declared differently in a base class of '%s'", first->name, v->def->name);
    mo_why(m->context, "%s", why);
    mo_hint(m->context, "rename one of the two, or write 'redeclare'");
}

/* A constraint may say what the declaration says, and both may say 'final'. */
static void excuse(mo_mod *mod)
{
    for (; mod; mod = mod->next) {
        mod->used = true;
        excuse(mod->sub);
    }
}

/* What a constraint says, 'constrainedby C(p = 3)', holds for the element and for whatever is put in
 * its place, unless that says otherwise. Without a constraint the modifications of the declaration
 * are taken for it. */
static mo_mod *constraint_mods(mo_model *m, mo_view *v, const mo_element *e, const mo_mod *outer)
{
    const mo_modifier *own = e->constraint_modifier;
    if (outer && outer->redeclare && !e->constraint)
        own = e->kind == MO_COMPONENT ? e->modifier
              : e->nested->is_short   ? e->nested->alias_modifier
                                      : NULL;
    mo_mod *mod = mo_bind_mods(m, own, v, NULL);
    excuse(mod);
    if (!outer || !outer->redeclare) return mod;
    if (outer->weak) {
        mo_mod *passed = dae_arena_take(&m->context->arena, 1, sizeof *passed);
        *passed = (mo_mod){ .sub = outer->weak };
        excuse(passed);
        mod = mo_merge_one(m, passed, mod);
    }
    mo_mod *new = mo_bind_mods(m, outer->redeclare->constraint_modifier, outer->redeclared_in,
                               outer->redeclared_by);
    excuse(new);
    return mo_merge_one(m, new, mod);
}

static void add_element(mo_model *m, mo_view *v, mo_element *element)
{
    const char *name = element->kind == MO_NESTED ? element->nested->name : element->name;
    mo_entry *e = dae_arena_take(&m->context->arena, 1, sizeof *e);
    *e = (mo_entry){ .name = name,
                     .element = element,
                     .where = v,
                     .sizes_in = v,
                     .condition_in = v,
                     .place = element->place,
                     .is_protected = element->is_protected };
    mo_mod *outer = find_outer(m, v, name);
    mo_mod *own = constraint_mods(m, v, element, outer);
    if (element->kind == MO_NESTED) {
        e->weak = own ? own->sub : NULL;
        own = NULL;
    } else if (!outer || !outer->redeclare)
        own = mo_merge_one(m, mo_bind_mods(m, element->modifier, v, NULL), own);
    if (own && element->final) own->final = true;
    if (outer) {
        outer->used = true;
        if (element->final) {
            mo_error(m->context, DAE_E_MODEL, outer->place, "'%s' is final and cannot be modified",
                     name);
            mo_hint(m->context, "remove the modification");
        }
        if (outer->redeclare) redeclare(m, e, outer);
    }
    e->mod = mo_merge_one(m, outer, own);
    mo_entry *there = in_table(v, name);
    if (!there) {
        add_entry(m, v, e);
    } else if (there->where == v) {
        mo_error(m->context, DAE_E_MODEL, element->place, "'%s' is declared twice in '%s'", name,
                 v->def->name);
        int line, column;
        mo_find_line(m->context, there->place, &line, &column);
        mo_why(m->context, "the first declaration is in line %d", line);
        mo_hint(m->context, "rename or remove one of the two");
    } else
        same_again(m, v, there, e);
}

/* ------------------------------------------------------------------ bases ------------ */

static const char *name_of(const mo_element *e)
{
    return e->kind == MO_NESTED ? e->nested->name : e->name;
}

/* Does an element of a class stand for an inherited one? `model extends A` does so by itself. */
static bool is_redeclaration(const mo_element *e)
{
    return (e->kind == MO_COMPONENT && e->redeclare) ||
           (e->kind == MO_NESTED && (e->redeclare || e->nested->extends_itself));
}

/* A redeclaration that is written as an element of a derived class is a modification of its bases,
 * the weakest one from outside of them: both forms do the same (section 7.3). */
static mo_mod *element_redeclarations(mo_model *m, mo_view *v)
{
    mo_mod *list = NULL;
    for (int i = 0; i < v->def->elements; i++)
        if (is_redeclaration(v->def->element[i])) {
            mo_mod *mod = mo_bind_redeclaration(m, v->def->element[i], v);
            mod->next = list;
            list = mod;
        }
    return list;
}

/* There must be something to redeclare. */
static void check_redeclarations(mo_model *m, mo_view *v)
{
    for (int i = 0; i < v->def->elements; i++) {
        const mo_element *e = v->def->element[i];
        bool inherited = !is_redeclaration(e);
        for (size_t k = 0; k < v->bases && !inherited; k++)
            inherited = mo_find_entry(m, v->base[k], name_of(e)) != NULL;
        const mo_entry *there = in_table(v, name_of(e));
        if (inherited && there && e->is_protected && !there->is_protected) {
            mo_error(m->context, DAE_E_MODEL, e->place,
                     "'%s' is public and cannot be redeclared as protected", name_of(e));
            mo_hint(m->context, "write it before 'protected'");
        }
        if (inherited) continue;
        mo_error(m->context, DAE_E_MODEL, e->place, "there is no inherited '%s' to redeclare",
                 name_of(e));
        mo_hint(m->context, "remove 'redeclare', or inherit '%s' with 'extends'", name_of(e));
    }
}

static void inherit(mo_model *m, mo_view *v, mo_view *base, bool is_protected)
{
    mo_expand(m, base);
    for (size_t i = 0; i < v->bases; i++)
        if (v->base[i] == base)
            return; /* nothing new, and what walks up the bases would go twice as far each time */
    v->base =
        dae_arena_grow(&m->context->arena, v->base, v->bases, &v->base_capacity, sizeof *v->base);
    v->base[v->bases++] = base;
    if (base->primitive) {
        v->primitive = base->primitive;
        v->enumeration = base->enumeration;
    }
    for (size_t i = 0; i < base->entries; i++) {
        mo_entry *from = base->entry[i];
        if (from->element->kind == MO_COMPONENT && mo_deselects(base->inherited_by, from->name))
            continue;
        mo_entry *there = in_table(v, from->name);
        if (there) {
            same_again(m, v, there, from);
            continue;
        }
        mo_entry *e = dae_arena_take(&m->context->arena, 1, sizeof *e);
        *e = *from;
        e->chain = NULL;
        e->is_protected |= is_protected;
        add_entry(m, v, e);
    }
}

/* `back` is inherited (by v at last) and inherits itself: back -> ... -> v -> back */
static void say_cycle(mo_model *m, mo_view *v, const mo_view *back, mo_place place)
{
    const char *path = back->path;
    for (mo_view *o = v; o; o = o->derived) {
        path = dae_arena_print(&m->context->arena, "%s -> %s", o->path, path);
        if (o == back) break;
    }
    mo_error(m->context, DAE_E_MODEL, place, "'%s' inherits from itself", back->def->name);
    mo_why(m->context, "%s", path);
    mo_hint(m->context, "break the cycle of 'extends'");
}

/* extends B(x = 1): there is an x in B. */
static void check_modified(mo_model *m, mo_view *base, const mo_mod *own)
{
    for (; own; own = own->next) {
        const mo_mod *merged = mo_find_mod(base->mods, own->name);
        if (in_table(base, own->name) || (merged && merged->used)) continue;
        mo_scope inside = { .view = base };
        if (base->primitive)
            mo_check_attribute(m, base, own);
        else
            mo_say_unknown(m, &inside, own->name, own->place, "element");
    }
}

static mo_class *written_class(const mo_class *def, const char *name)
{
    for (int i = def->elements; i-- > 0;)
        if (def->element[i]->kind == MO_NESTED && def->element[i]->nested->name == name)
            return def->element[i]->nested;
    return NULL;
}

/* A base is looked up around and in the class, but not in what another base brings (7.1.1). */
static mo_view *find_base(mo_model *m, mo_view *v, const mo_reference *name)
{
    mo_scope scope = { .view = v };
    const mo_entry *e = name->global ? NULL : in_table(v, name->part[0].name);
    if (!e || e->where == v || written_class(v->def, e->name))
        return mo_find_class(m, &scope, name, true);
    mo_error(m->context, DAE_E_MODEL, name->place, "'%s' extends '%s', which is inherited itself",
             v->def->name, mo_reference_text(m->context, name));
    mo_hint(m->context,
            "write the whole name of the class, with that of the class it is written in");
    return NULL;
}

static void add_base(mo_model *m, mo_view *v, const mo_reference *name, const mo_modifier *modifier,
                     bool is_protected, mo_place place)
{
    if (v->depth > MO_MAX_INHERITANCE)
        mo_fatal_hint(m->context, DAE_E_LIMIT, place, "make the chain of 'extends' shorter",
                      "'%s' inherits through more than %d classes", v->def->name,
                      MO_MAX_INHERITANCE);
    mo_view *found = find_base(m, v, name);
    if (!found || !mo_check_base(m, v, found, v->def->is_short, place)) return;
    mo_mod *mods = mo_merge(m, v->mods, element_redeclarations(m, v));
    /* the modifiers of a short class are written around it, those of 'extends' in it */
    mo_view *around = v->def->is_short && v->outer ? v->outer : v;
    mo_mod *own = mo_bind_mods(m, modifier, around, NULL);
    mods = mo_merge(m, mo_merge(m, mods, own ? own->sub : NULL), v->weak);
    mo_view *base = mo_modified_view(m, found, mods); /* its own: no other object has this view */
    if (found->primitive && !found->def->is_short && !found->bases) {
        base->primitive = found->primitive; /* a builtin type */
        base->enumeration = found->enumeration;
        base->progress = MO_DONE;
    }
    base->derived = v;
    base->depth = v->depth + 1;
    base->inherited_by = v->def->is_short ? NULL : modifier;
    for (mo_view *o = v; o; o = o->derived)
        if (o->def == found->def) {
            say_cycle(m, v, o, place);
            return;
        }
    inherit(m, v, base, is_protected);
    if (own) check_modified(m, base, own->sub);
    mo_check_deselections(m, base);
}

/* `model extends A(...)`: the inherited class A of the enclosing class's bases. */
static void add_own_base(mo_model *m, mo_view *v)
{
    mo_view *around = v->outer;
    for (size_t i = 0; around && i < around->bases; i++) {
        mo_entry *e = mo_find_entry(m, around->base[i], v->def->name);
        while (e && e->before)
            e = e->before; /* what the base has of its own: all else comes from here or outside */
        if (!e || e->element->kind != MO_NESTED) continue;
        mo_view *found = mo_nested_view(m, e);
        mo_mod *own = mo_bind_mods(m, v->def->alias_modifier, v, NULL);
        mo_mod *mods = mo_merge(m, v->mods, own ? own->sub : NULL);
        mo_view *base = mo_modified_view(m, found, mo_merge(m, mods, v->weak));
        base->derived = v;
        base->depth = v->depth + 1;
        inherit(m, v, base, false);
        return;
    }
    mo_error(m->context, DAE_E_MODEL, v->def->place, "there is no inherited class '%s' to extend",
             v->def->name);
    mo_hint(m->context, "'class extends %s' needs a base class with a class of that name",
            v->def->name);
}

/* ------------------------------------------------------------------ all of it -------- */

/* Classes come first, so that bases can be looked up among them; components and what is inherited
 * stand in the order of the text, which is that of a function's arguments. */
static void expand_elements(mo_model *m, mo_view *v)
{
    mo_class *def = v->def;
    for (int i = 0; i < def->elements; i++)
        if (def->element[i]->kind == MO_NESTED &&
            (!is_redeclaration(def->element[i]) || def->element[i]->nested->extends_itself))
            add_element(m, v, def->element[i]);
    for (int i = 0; i < def->elements; i++) {
        mo_element *e = def->element[i];
        if (e->kind == MO_EXTENDS)
            add_base(m, v, e->type, e->modifier, e->is_protected, e->place);
        else if (e->kind == MO_COMPONENT && !is_redeclaration(e))
            add_element(m, v, e);
    }
    check_redeclarations(m, v);
}

static void say_mixed(mo_model *m, const mo_view *v)
{
    for (size_t i = 0; i < v->entries; i++)
        if (v->entry[i]->element->kind == MO_COMPONENT) {
            mo_error(m->context, DAE_E_MODEL, v->entry[i]->place,
                     "'%s' extends a simple type and has the component '%s'", v->def->name,
                     v->entry[i]->name);
            mo_hint(m->context, "declare a component of the simple type instead of extending it");
            return;
        }
}

/* type In = input Real; function f In x; ...: x is an input of the function. */
static void take_prefixes(mo_model *m, mo_view *v)
{
    for (size_t i = 0; i < v->entries; i++) {
        mo_entry *e = v->entry[i];
        if (e->element->kind != MO_COMPONENT || e->element->input || e->element->output ||
            e->is_protected)
            continue;
        mo_view *type = class_of_element(m, e->element, e->where);
        while (type && type->def->is_short && !type->def->alias_input && !type->def->alias_output) {
            mo_expand(m, type);
            type = type->bases ? type->base[0] : NULL;
        }
        if (!type || !type->def->is_short) continue;
        mo_element *copy = dae_arena_take(&m->context->arena, 1, sizeof *copy);
        *copy = *e->element;
        copy->input = type->def->alias_input;
        copy->output = type->def->alias_output;
        e->element = copy;
    }
}

void mo_expand(mo_model *m, mo_view *v)
{
    if (v->progress == MO_DONE || v->progress == MO_FAILED || v->progress == MO_UNDER_WAY) return;
    v->progress = MO_UNDER_WAY;
    mo_class *def = v->def;
    mo_check_class(m, def);
    if (def->extends_itself)
        add_own_base(m, v);
    else if (def->is_enumeration) {
        v->primitive = MO_ENUMERATION;
        v->enumeration = v;
    } else if (def->is_short && def->alias && !def->is_derivative)
        add_base(m, v, def->alias, def->alias_modifier, false, def->alias->place);
    expand_elements(m, v);
    v->progress = MO_DONE;
    if (def->kind == MO_FUNCTION) take_prefixes(m, v);
    if (v->primitive && v->entries && v->primitive != MO_EXTERNAL_OBJECT) say_mixed(m, v);
}

/* A class of a base that is in a file of its own, and was not read when the base was inherited. */
static mo_entry *inherit_child(mo_model *m, mo_view *v, const char *name)
{
    for (size_t i = 0; i < v->bases; i++) {
        mo_entry *from = mo_find_entry(m, v->base[i], name);
        if (!from || from->element->kind != MO_NESTED) continue;
        mo_entry *e = dae_arena_take(&m->context->arena, 1, sizeof *e);
        *e = *from;
        e->chain = NULL;
        add_entry(m, v, e);
        return e;
    }
    return NULL;
}

/* During the expansion of the bases only what is written in the class itself is seen. */
mo_entry *mo_find_entry(mo_model *m, mo_view *v, const char *name)
{
    mo_expand(m, v);
    mo_entry *e = in_table(v, name);
    if (e || v->primitive) return e;
    mo_class *written = v->progress == MO_UNDER_WAY ? written_class(v->def, name) : NULL;
    mo_class *child = written ? written : mo_load_child(m, v->def, name);
    if (!child) return v->progress == MO_DONE ? inherit_child(m, v, name) : NULL;
    mo_element *element = dae_arena_take(&m->context->arena, 1, sizeof *element);
    *element = (mo_element){ .kind = MO_NESTED, .nested = child, .place = child->place };
    e = dae_arena_take(&m->context->arena, 1, sizeof *e);
    *e = (mo_entry){ .name = name, .element = element, .where = v, .place = child->place };
    if (!written) /* a redeclaration comes to its place with the base */
        add_entry(m, v, e);
    return e;
}

mo_view *mo_nested_view(mo_model *m, mo_entry *e)
{
    if (e->nested) return e->nested;
    mo_mod *mods = e->mod ? e->mod->sub : NULL;
    mo_class *def = e->element->nested;
    bool late = def->is_short || def->extends_itself; /* its own modifiers come before */
    e->nested = mo_new_view(m, def, e->where, late ? mods : mo_merge(m, mods, e->weak));
    e->nested->weak = late ? e->weak : NULL;
    return e->nested;
}

bool mo_derives_from(mo_view *v, mo_view *base)
{
    if (v == base || v->def == base->def) return true;
    for (size_t i = 0; i < v->bases; i++)
        if (mo_derives_from(v->base[i], base)) return true;
    return false;
}

bool mo_is_kind(mo_model *m, mo_view *v, mo_class_kind kind)
{
    dae_arena_work(&m->context->arena);
    mo_expand(m, v);
    mo_class_kind own = v->def->kind;
    if (own == kind || (kind == MO_FUNCTION && own == MO_OPERATOR_FUNCTION) ||
        (kind == MO_RECORD && own == MO_OPERATOR_RECORD) ||
        (kind == MO_CONNECTOR && own == MO_EXPANDABLE_CONNECTOR))
        return true;
    if (kind == MO_RECORD && (own == MO_MODEL || own == MO_BLOCK))
        return false; /* it may inherit the parameters of a record, and is none */
    for (size_t i = 0; i < v->bases; i++)
        if (mo_is_kind(m, v->base[i], kind)) return true;
    return false;
}

mo_view *mo_leaf(mo_model *m, mo_view *v)
{
    mo_expand(m, v);
    if (!v->primitive) return NULL;
    for (size_t i = 0; i < v->bases; i++)
        if (v->base[i]->primitive) return mo_leaf(m, v->base[i]);
    return v;
}
