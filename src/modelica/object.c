/* object.c: declarations become variables and components.
 *
 * A member is made when somebody asks for it, or at the latest by mo_finish_object. Primitive
 * members are runs of variables of the flat model, element after element, the last index
 * fastest; others are objects, and arrays of them. Constants of packages have values only.
 */
#include "modelica/builtins.h"
#include "modelica/instance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ objects ---------- */

mo_object *mo_new_object(mo_model *m, mo_view *v, mo_object *parent, mo_member *holder,
                         const char *name)
{
    mo_expand(m, v);
    mo_object *o = dae_arena_take(&m->context->arena, 1, sizeof *o);
    *o = (mo_object){ .view = v,
                      .parent = parent,
                      .holder = holder,
                      .name = name,
                      .package = parent ? parent->package : false,
                      .level = parent ? parent->level + 1 : 0 };
    o->members = v->entries;
    o->member = dae_arena_take(&m->context->arena, v->entries + 1, sizeof *o->member);
    m->objects++;
    return o;
}

/* The constants of a class used as a package. */
mo_object *mo_constants(mo_model *m, mo_view *v)
{
    if (!v->constants) {
        v->constants = mo_new_object(m, v, NULL, NULL, v->path);
        v->constants->package = true;
    }
    return v->constants;
}

mo_member *mo_find_member(mo_model *m, mo_object *o, const char *name)
{
    for (size_t i = 0; i < o->extras; i++)
        if (o->extra[i]->entry->name == name) return o->extra[i];
    mo_entry *e = mo_find_entry(m, o->view, name);
    if (!e || e->element->kind != MO_COMPONENT || (size_t)e->number >= o->members) return NULL;
    if (!o->member[e->number]) {
        mo_member *member = dae_arena_take(&m->context->arena, 1, sizeof *member);
        *member = (mo_member){ .entry = e, .object = o };
        o->member[e->number] = member;
    }
    return o->member[e->number];
}

const char *mo_full_name(mo_model *m, const mo_object *o, const char *name)
{
    return o->name[0] ? dae_arena_print(&m->context->arena, "%s.%s", o->name, name) : name;
}

/* "x" with the index of its k-th element: "x[2,1]" */
static const char *indexed(mo_model *m, const mo_member *member, const char *name, size_t k)
{
    if (!member->dimensions) return name;
    char text[160];
    size_t length = 0, rest = member->count;
    for (int d = 0; d < member->dimensions && length < sizeof text - 16; d++) {
        rest /= (size_t)member->size[d];
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%zu", d ? "," : "[",
                                   k / rest + 1);
        k %= rest;
    }
    return dae_arena_print(&m->context->arena, "%s%s]", name, text);
}

/* ------------------------------------------------------------------ sizes ------------ */

static void add_size(mo_model *m, mo_member *member, int size, mo_place place)
{
    if (size < 0) {
        mo_error(m->context, DAE_E_MODEL, place, "the size of '%s' is %d", member->entry->name,
                 size);
        mo_hint(m->context, "a size is 0 or larger");
        size = 0;
    }
    int *more = dae_arena_take(&m->context->arena, (size_t)member->dimensions + 1, sizeof *more);
    if (member->dimensions) memcpy(more, member->size, (size_t)member->dimensions * sizeof *more);
    more[member->dimensions++] = size;
    member->size = more;
}

/* x[n], x[:], x[Boolean], x[Enumeration] */
static void size_of_subscript(mo_model *m, mo_member *member, const mo_scope *scope, mo_ast *a,
                              int from_binding)
{
    if (a->kind == MO_A_COLON) {
        mo_place place;
        mo_value *v = mo_raw_binding(m, member, &place);
        if (v && v->kind == MO_V_ARRAY && from_binding < v->dimensions) {
            add_size(m, member, v->size[from_binding], a->place);
            return;
        }
        if (!v || v->kind != MO_V_NONE) {
            mo_error(m->context, DAE_E_MODEL, a->place, "the size of '%s' is not known",
                     member->entry->name);
            mo_hint(m->context, "give it a value, '%s[:] = {...}', or a size", member->entry->name);
        }
        add_size(m, member, 0, a->place);
        return;
    }
    if (a->kind == MO_A_REFERENCE) {
        mo_value *v = mo_evaluate(m, scope, a);
        if (v->kind == MO_V_CLASS) {
            mo_expand(m, v->view);
            if (v->view->primitive == MO_ENUMERATION || v->view->primitive == MO_BOOLEAN) {
                add_size(m, member,
                         v->view->primitive == MO_BOOLEAN ? 2 : v->view->enumeration->def->literals,
                         a->place);
                return;
            }
        }
    }
    int size = 0;
    const char *what = dae_arena_print(&m->context->arena, "the size of '%s'", member->entry->name);
    mo_need_integer(m, scope, a, what, &size);
    add_size(m, member, size, a->place);
}

/* Sizes that belong to the type: type V = Real[3]. */
static void sizes_of_type(mo_model *m, mo_member *member, mo_view *v)
{
    mo_scope scope = { .object = member->object, .view = v->outer ? v->outer : v };
    for (int i = 0; i < v->def->alias_dimensions; i++)
        size_of_subscript(m, member, &scope, v->def->alias_dimension[i], member->dimensions);
    member->input |= v->def->alias_input;
    member->output |= v->def->alias_output;
    member->flow |= v->def->alias_flow;
    member->stream |= v->def->alias_stream;
    for (size_t i = 0; v->primitive && i < v->bases; i++)
        if (v->base[i]->primitive) sizes_of_type(m, member, v->base[i]);
    if (!v->primitive && v->def->is_short && v->bases) sizes_of_type(m, member, v->base[0]);
}

static void find_sizes(mo_model *m, mo_member *member, const mo_scope *scope)
{
    mo_element *e = member->entry->element;
    mo_member *before = m->sizing;
    m->sizing = member;
    for (int i = 0; i < e->dimensions; i++)
        size_of_subscript(m, member, scope, e->dimension[i], member->dimensions);
    for (int i = 0; i < e->type_dimensions; i++)
        size_of_subscript(m, member, scope, e->type_dimension[i], member->dimensions);
    sizes_of_type(m, member, member->type);
    m->sizing = before;
    double count = 1;
    for (int d = 0; d < member->dimensions; d++) count *= member->size[d];
    if (count + (double)m->flat->variables > MO_MAX_VARIABLES)
        mo_fatal_hint(m->context, DAE_E_LIMIT, member->entry->place, "make the array smaller",
                      "'%s' has %.0f elements; a model can have %.0f variables",
                      mo_full_name(m, member->object, member->entry->name), count,
                      MO_MAX_VARIABLES);
    member->count = (size_t)count;
}

/* ------------------------------------------------------------------ members ---------- */

static bool contains_itself(const mo_object *o, const mo_class *def)
{
    int same = 0;
    for (; o; o = o->parent) same += o->view->def == def;
    return same > 0 && !def->is_short;
}

/* A view with modifications on top of those it has. */
static mo_view *modified(mo_model *m, mo_view *v, mo_mod *mods)
{
    if (!mods) return v;
    mo_view *copy = mo_modified_view(m, v, mods);
    if (v->primitive && !v->def->is_short && !v->bases && !v->def->is_enumeration &&
        v->def->elements == 0) {
        copy->primitive = v->primitive;
        copy->progress = MO_DONE;
    }
    return copy;
}

/* Prefixes that the type, or a component around, does not allow. */
static bool check_prefixes(mo_model *m, mo_member *member)
{
    const mo_element *e = member->entry->element;
    const mo_member *holder = member->object->holder;
    const mo_class *def = member->type->def;
    const char *prefix = e->flow                          ? "flow"
                         : e->stream                      ? "stream"
                         : e->input                       ? "input"
                         : e->output                      ? "output"
                         : e->variability == MO_CONSTANT  ? "constant"
                         : e->variability == MO_PARAMETER ? "parameter"
                         : e->variability == MO_DISCRETE  ? "discrete"
                                                          : NULL;
    const char *name = mo_full_name(m, member->object, e->name);
    if (prefix && !member->primitive && (def->kind == MO_MODEL || def->kind == MO_BLOCK)) {
        mo_error(m->context, DAE_E_MODEL, e->place,
                 "'%s' is declared '%s', but it is of the %s '%s'", name, prefix,
                 mo_kind_name(def->kind), def->name);
        mo_hint(m->context, "only variables, records and connectors can be '%s'", prefix);
        return false;
    }
    if ((e->flow || e->stream) && member->primitive && member->primitive != MO_REAL) {
        mo_error(m->context, DAE_E_MODEL, e->place, "'%s' is declared '%s', but it is not Real",
                 name, prefix);
        mo_hint(m->context, "declare it Real, or remove '%s'", prefix);
        return false;
    }
    bool flow = holder && (holder->flow || holder->stream) && (e->flow || e->stream);
    bool causal = holder && (holder->input || holder->output) && (e->input || e->output) &&
                  mo_is_connector(m, member->object->view);
    if (flow || causal) {
        mo_error(m->context, DAE_E_MODEL, e->place,
                 "'%s' is '%s' inside of '%s', which is '%s' already", name, prefix,
                 member->object->name,
                 flow            ? (holder->flow ? "flow" : "stream")
                 : holder->input ? "input"
                                 : "output");
        mo_hint(m->context, "remove one of the two prefixes");
        return false;
    }
    return true;
}

/* A model has no value: `tank = 3` would be nothing but a parameter mistaken for a component. */
static bool check_value(mo_model *m, const mo_member *member)
{
    const mo_class *def = member->type->def;
    const mo_mod *mod = member->entry->mod;
    if (!mod || !mod->value || member->primitive) return true;
    if (def->kind != MO_MODEL && def->kind != MO_BLOCK) return true;
    mo_error(m->context, DAE_E_MODEL, mod->place, "'%s' is given a value, but it is of the %s '%s'",
             mo_full_name(m, member->object, member->entry->name), mo_kind_name(def->kind),
             def->name);
    mo_hint(m->context,
            "give values to its parameters: %s(name = ...); only variables and records "
            "have a value",
            member->entry->name);
    return false;
}

static bool find_type(mo_model *m, mo_member *member, const mo_scope *scope)
{
    mo_element *e = member->entry->element;
    mo_view *found = mo_find_class(m, scope, e->type, true);
    if (!found) return false;
    mo_mod *mods = member->mod ? mo_in_object(m, member->mod->sub, member->object) : NULL;
    member->type = modified(m, found, mods);
    mo_expand(m, member->type);
    member->primitive = member->type->primitive;
    if (member->primitive) member->leaf = mo_leaf(m, member->type);
    mo_check_mods(m, mods, member->type);
    if (!check_prefixes(m, member) || !check_value(m, member)) return false;
    if (member->primitive == MO_CLOCK) {
        mo_error(m->context, DAE_E_UNSUPPORTED, e->place, "clocks are not supported yet: '%s'",
                 mo_full_name(m, member->object, e->name));
        mo_hint(m->context, "%s", MO_NO_CLOCKS);
        return false;
    }
    if (member->primitive) return true;
    mo_class *def = member->type->def;
    if (def->kind == MO_PACKAGE || def->kind == MO_FUNCTION) {
        mo_error(m->context, DAE_E_MODEL, e->place, "'%s' is a %s and cannot be a component",
                 def->name, def->kind == MO_PACKAGE ? "package" : "function");
        mo_hint(m->context, "use a model, block, record, connector or type");
        return false;
    }
    if (def->partial && !member->object->package) {
        mo_error(m->context, DAE_E_MODEL, e->place, "'%s' is of the partial class '%s'",
                 mo_full_name(m, member->object, e->name), member->type->path);
        mo_hint(m->context, "redeclare it with a complete class, or use one that extends '%s'",
                def->name);
        return false;
    }
    if (contains_itself(member->object, def)) {
        mo_error(m->context, DAE_E_MODEL, e->place, "'%s' contains itself", def->name);
        const char *path = def->name;
        for (mo_object *o = member->object; o; o = o->parent) {
            path = dae_arena_print(&m->context->arena, "%s -> %s", o->view->def->name, path);
            if (o->view->def == def) break;
        }
        mo_why(m->context, "%s", path);
        mo_hint(m->context, "a component cannot contain a component of its own class");
        return false;
    }
    return true;
}

static void own(mo_model *m, mo_member *member)
{
    size_t need = m->flat->variables;
    while (m->owner_capacity < need) {
        size_t capacity = m->owner_capacity ? 2 * m->owner_capacity : 256;
        mo_member **owner = dae_arena_take(&m->context->arena, capacity, sizeof *owner);
        double *known = dae_arena_take(&m->context->arena, capacity, sizeof *known);
        if (m->owner_capacity) {
            memcpy(owner, m->owner, m->owner_capacity * sizeof *owner);
            memcpy(known, m->known, m->owner_capacity * sizeof *known);
        }
        for (size_t i = m->owner_capacity; i < capacity; i++) known[i] = NAN;
        m->owner = owner;
        m->known = known;
        m->owner_capacity = capacity;
    }
    for (size_t k = 0; k < member->count; k++) m->owner[member->first + k] = member;
}

/* Does the whole model show it: is it in connectors and records of the model only? */
static bool is_outermost(mo_model *m, const mo_object *o)
{
    while (o && o != m->top && (mo_is_connector(m, o->view) || mo_is_kind(m, o->view, MO_RECORD)))
        o = o->parent;
    return o == m->top;
}

static void make_variables(mo_model *m, mo_member *member)
{
    mo_element *e = member->entry->element;
    flat_variable v = { .type = mo_type_of(member->primitive),
                        .fixed = -1,
                        .place = e->place,
                        .comment = e->comment,
                        .flow = member->flow,
                        .is_protected = member->is_protected,
                        .state_select = FLAT_DEFAULT };
    v.variability = (flat_variability)member->variability;
    if (v.type != EX_REAL && v.variability == FLAT_CONTINUOUS) v.variability = FLAT_DISCRETE;
    if (member->primitive == MO_ENUMERATION) {
        v.enumeration = member->leaf->enumeration->path;
        v.literal = member->leaf->enumeration->def->literal;
        v.literals = member->leaf->enumeration->def->literals;
    }
    bool top = (member->input || member->output) && is_outermost(m, member->object);
    v.input = top && member->input;
    v.output = top && member->output;
    v.final = e->final;
    m->texts |= v.type == EX_STRING;
    member->first = (uint32_t)m->flat->variables;
    const char *name = mo_full_name(m, member->object, e->name);
    for (size_t k = 0; k < member->count; k++) {
        v.name = indexed(m, member, name, k);
        flat_add_variable(m->flat, &v);
    }
    own(m, member);
}

static void make_objects(mo_model *m, mo_member *member)
{
    dae_arena *arena = &m->context->arena;
    member->element = dae_arena_take(arena, member->count + 1, sizeof *member->element);
    const char *name = mo_full_name(m, member->object, member->entry->name);
    if (member->object->level > MO_MAX_DEPTH)
        mo_fatal_hint(m->context, DAE_E_LIMIT, member->entry->place, "flatten the hierarchy",
                      "components are nested more than %d deep in '%s'", MO_MAX_DEPTH, name);
    if ((double)(m->objects + member->count) > MO_MAX_OBJECTS)
        mo_fatal_hint(m->context, DAE_E_LIMIT, member->entry->place,
                      "look for a class that contains ever more components of other classes",
                      "more than %.0f components, the last of class '%s'", MO_MAX_OBJECTS,
                      member->type->path);
    for (size_t k = 0; k < member->count; k++) {
        mo_object *o =
            mo_new_object(m, member->type, member->object, member, indexed(m, member, name, k));
        o->index = dae_arena_take(arena, (size_t)member->dimensions + 1, sizeof *o->index);
        size_t rest = member->count, at = k;
        for (int d = 0; d < member->dimensions; d++) {
            rest /= (size_t)member->size[d];
            o->index[d] = (int)(at / rest) + 1;
            at %= rest;
        }
        member->element[k] = o;
    }
}

static void check_outer(mo_model *m, const mo_member *outer, const mo_member *inner)
{
    const mo_entry *entry = outer->entry;
    const mo_element *e = entry->element;
    if (entry->mod && (entry->mod->value || entry->mod->sub)) {
        mo_error(m->context, DAE_E_MODEL, entry->place, "the outer component '%s' is modified",
                 e->name);
        mo_hint(m->context, "modify the 'inner' one");
        return;
    }
    mo_scope scope = { .object = outer->object, .view = entry->where };
    mo_view *type = mo_find_class(m, &scope, e->type, true);
    if (!type || inner->progress != MO_DONE || inner->disabled) return;
    mo_expand(m, type);
    const char *what = NULL;
    if (type->primitive != inner->primitive)
        what = "their types differ";
    else if (!type->def->is_short && e->dimensions + e->type_dimensions != inner->dimensions)
        what = "they have different numbers of dimensions";
    else if (type->primitive == MO_ENUMERATION &&
             type->enumeration->def != inner->leaf->enumeration->def)
        what = "they are different enumerations";
    if (!what) return;
    mo_error(m->context, DAE_E_MODEL, entry->place, "the 'inner' component does not fit '%s'",
             e->name);
    mo_why(m->context, "%s: '%s' is of type %s", what,
           mo_full_name(m, inner->object, inner->entry->name), inner->type->path);
    mo_hint(m->context, "declare both with the same type");
}

/* outer x: the inner x of an object around this one. */
static bool find_inner(mo_model *m, mo_member *member)
{
    for (mo_object *o = member->object->parent; o; o = o->parent) {
        mo_member *inner = mo_find_member(m, o, member->entry->name);
        if (!inner || !inner->entry->element->inner) continue;
        mo_instantiate(m, inner);
        check_outer(m, member, inner);
        mo_entry *entry = member->entry;
        mo_object *object = member->object;
        *member = *inner;
        member->entry = entry;
        member->object = object;
        member->inner = inner->inner ? inner->inner : inner;
        member->progress = MO_DONE;
        return true;
    }
    mo_warning(m->context, member->entry->place,
               "there is no 'inner' component '%s' for this 'outer' one", member->entry->name);
    mo_hint(m->context, "declare 'inner ... %s' in the model; a default one is used",
            member->entry->name);
    return false;
}

static mo_variability least(mo_variability a, mo_variability b)
{
    return a < b ? a : b;
}

void mo_instantiate(mo_model *m, mo_member *member)
{
    mo_entry *entry = member->entry;
    mo_element *e = entry->element;
    if (member->progress == MO_UNDER_WAY) {
        mo_error(m->context, DAE_E_MODEL, entry->place, "the declaration of '%s' depends on itself",
                 mo_full_name(m, member->object, entry->name));
        mo_hint(m->context, "its size, condition or type must not use it");
        member->progress = MO_FAILED;
    }
    if (member->progress != MO_UNTOUCHED) return;
    m->context->now = entry->place;
    member->progress = MO_UNDER_WAY;
    member->mod = entry->mod;
    member->is_protected =
        entry->is_protected || (member->object->holder && member->object->holder->is_protected);
    if (e->outer && !e->inner && !member->object->package && find_inner(m, member)) return;
    mo_scope scope = { .object = member->object, .view = entry->condition_in };
    bool present = true;
    if (e->condition && mo_need_boolean(m, &scope, e->condition, "the condition", &present) &&
        !present) {
        member->disabled = true;
        member->progress = MO_DONE;
        return;
    }
    member->variability = e->variability;
    mo_member *holder = member->object->holder;
    if (holder) member->variability = least(member->variability, holder->variability);
    member->flow = e->flow || (holder && holder->flow); /* flow Complex i: both parts */
    member->stream = e->stream || (holder && holder->stream);
    member->input = e->input || (holder && holder->input);
    member->output = e->output || (holder && holder->output);
    scope.view = entry->where;
    bool fine = find_type(m, member, &scope);
    if (fine) {
        scope.view = entry->sizes_in;
        find_sizes(m, member, &scope);
        if (!member->primitive)
            make_objects(m, member);
        else if (!member->object->package && member->primitive != MO_EXTERNAL_OBJECT)
            make_variables(m, member);
    }
    member->progress = fine && member->progress != MO_FAILED ? MO_DONE : MO_FAILED;
}

/* ------------------------------------------------------------------ the rest --------- */

bool mo_is_connector(mo_model *m, const mo_view *v)
{
    return mo_is_kind(m, (mo_view *)v, MO_CONNECTOR);
}

/* The type of a component without the values that it gives to its own variables: its parameters,
 * and what is redeclared, belong to the type. */
static mo_view *without_equations(mo_model *m, mo_view *type)
{
    mo_mod *list = NULL, **end = &list;
    for (const mo_mod *mod = type->mods; mod; mod = mod->next) {
        const mo_entry *e = mo_find_entry(m, type, mod->name);
        mo_mod *copy = dae_arena_take(&m->context->arena, 1, sizeof *copy);
        *copy = *mod;
        copy->next = NULL;
        if (e && e->element->kind == MO_COMPONENT && e->element->variability > MO_PARAMETER)
            copy->value = NULL;
        *end = copy;
        end = &copy->next;
    }
    mo_view *plain = mo_new_view(m, type->def, type->outer, list);
    plain->path = type->path;
    plain->weak = type->weak;
    return plain;
}

/* A component that no class declares, like the one whose value is given: it comes into being in
 * an expandable connector by being connected. NULL: there is nothing to be like. */
mo_member *mo_add_member(mo_model *m, mo_object *o, const char *name, const mo_value *like)
{
    dae_arena *arena = &m->context->arena;
    const mo_value *one =
        like->kind == MO_V_ARRAY && like->item && like->count ? like->item[0] : like;
    const mo_member *from = NULL;
    if (one->kind == MO_V_OBJECT)
        from = one->object->holder;
    else if (one->kind == MO_V_SCALAR || (one->kind == MO_V_ARRAY && one->element && one->count)) {
        const ex_node *node =
            ex_at(m->graph, one->kind == MO_V_SCALAR ? one->scalar : one->element[0]);
        from = node->op == EX_VARIABLE ? m->owner[node->a] : NULL;
    }
    if (!from) return NULL;
    mo_member *member = dae_arena_take(arena, 1, sizeof *member);
    mo_entry *entry = dae_arena_take(arena, 1, sizeof *entry);
    mo_element *element = dae_arena_take(arena, 1, sizeof *element);
    *element = *from->entry->element;
    element->name = name;
    *entry = *from->entry;
    entry->name = name;
    entry->element = element;
    entry->mod = NULL;
    *member = (mo_member){ .entry = entry,
                           .object = o,
                           .progress = MO_DONE,
                           .type = from->type,
                           .leaf = from->leaf,
                           .primitive = from->primitive,
                           .count = 1,
                           .variability = from->variability,
                           .flow = from->flow,
                           .stream = from->stream };
    if (!member->primitive && member->type->mods) member->type = without_equations(m, member->type);
    if (like->kind == MO_V_ARRAY) {
        member->dimensions = like->dimensions;
        member->size = like->size;
        member->count = like->count;
    }
    o->extra = dae_arena_grow(arena, o->extra, o->extras, &o->extra_capacity, sizeof *o->extra);
    o->extra[o->extras++] = member;
    if (member->primitive) {
        make_variables(m, member);
        mo_finish_variables(m, member);
    } else {
        make_objects(m, member);
        for (size_t k = 0; k < member->count; k++) mo_finish_object(m, member->element[k]);
    }
    return member;
}

/* All components below, without their values. */
void mo_make_object(mo_model *m, mo_object *o)
{
    for (size_t i = 0; i < o->members; i++) {
        mo_entry *e = o->view->entry[i];
        if (e->element->kind != MO_COMPONENT) continue;
        mo_member *member = mo_find_member(m, o, e->name);
        mo_instantiate(m, member);
        if (member->progress == MO_DONE && !member->disabled && !member->inner &&
            !member->primitive)
            for (size_t k = 0; k < member->count; k++) mo_make_object(m, member->element[k]);
    }
}

void mo_finish_object(mo_model *m, mo_object *o)
{
    for (size_t i = 0; i < o->members; i++) {
        mo_entry *e = o->view->entry[i];
        if (e->element->kind != MO_COMPONENT) continue;
        mo_member *member = mo_find_member(m, o, e->name);
        mo_instantiate(m, member);
        if (member->progress != MO_DONE || member->disabled || member->inner) continue;
        if (member->primitive == MO_EXTERNAL_OBJECT)
            mo_member_value(m, member);
        else if (member->primitive)
            mo_finish_variables(m, member);
        else
            for (size_t k = 0; k < member->count; k++) mo_finish_object(m, member->element[k]);
    }
}
