/* binding.c: what members are worth: declared values, values as expressions, attributes.
 *
 * A value may come from the declaration, from a modification outside, from the value of the record
 * around it, or for a String from an equation; the outermost counts. It is evaluated when somebody
 * asks for it. What is asked for while it is evaluated is a circle.
 */
#include "modelica/instance.h"

#include <limits.h>
#include <string.h>

/* ------------------------------------------------------------------ where from ------- */

/* The mod that gives the declared value: an outer one, or that of a record around it, or the
 * declaration's own. */
static mo_value *holder_field(mo_model *m, mo_member *member, mo_place *place)
{
    mo_object *o = member->object;
    if (!o->holder) return NULL;
    mo_value *whole = mo_binding(m, o->holder);
    if (!whole || whole->kind == MO_V_NONE) return NULL;
    for (int d = 0; d < o->holder->dimensions && whole->kind == MO_V_ARRAY; d++)
        whole = mo_row(m, whole, o->index[d] - 1);
    *place = o->holder->mod ? o->holder->mod->place : o->holder->entry->place;
    return mo_field(m, whole, member->entry->name);
}

/* What is set from the command line may use the literals of an enumeration and its name, wherever
 * that is declared: e=Color.red, e=red. */
static void admit_literals(mo_model *m, const mo_member *member, mo_mod *mod)
{
    if (member->primitive != MO_ENUMERATION || mod->object != m->root->constants || mod->env)
        return;
    mo_view *type = member->leaf->enumeration;
    dae_arena *arena = &m->context->arena;
    mo_env *env = dae_arena_take(arena, (size_t)type->def->literals + 1, sizeof *env);
    mo_value *name = dae_arena_take(arena, 1, sizeof *name);
    *name = (mo_value){ .kind = MO_V_CLASS, .view = type };
    env[0] = (mo_env){ .name = type->def->name, .value = name };
    for (int i = 1; i <= type->def->literals; i++)
        env[i] = (mo_env){ .name = type->def->literal[i - 1],
                           .next = &env[i - 1],
                           .value = mo_literal(m, type, i) };
    mod->env = &env[type->def->literals];
}

/* How far outside the value of a member is written: the level of the object whose class has the
 * modification, or the declaration; a record around may have a value from further outside. */
static int level_of_value(const mo_member *member, bool around)
{
    const mo_mod *mod = member->entry->mod;
    int level = !mod || !mod->value ? INT_MAX
                : mod->object       ? mod->object->level
                                    : member->object->level;
    const mo_member *holder = member->object->holder;
    int outside = around && holder ? level_of_value(holder, true) : INT_MAX;
    return outside < level ? outside : level;
}

/* A value for a whole record is a value for every part of it, and the outermost counts (7.2.3). */
mo_value *mo_raw_binding(mo_model *m, mo_member *member, mo_place *place)
{
    mo_mod *mod = member->entry->mod;
    *place = member->entry->place;
    bool own = mod && mod->value && level_of_value(member, false) <= level_of_value(member, true);
    if (mod && mod->value && mod->object) admit_literals(m, member, mod);
    mo_value *field = own && mod->object ? NULL : holder_field(m, member, place);
    if (field) return field;
    if (member->text) {
        mo_scope scope = { .object = member->object, .view = member->text_view };
        return mo_evaluate(m, &scope, member->text);
    }
    if (!mod || !mod->value) return NULL;
    if (mod->object) return mo_mod_value(m, mod, member->object, place);
    mo_mod here = *mod;
    here.cache = NULL;
    return mo_mod_value(m, &here, member->object, place);
}

/* ------------------------------------------------------------------ values ----------- */

static const char *size_hint(const mo_member *member, const mo_value *v, int have)
{
    bool row = v->kind == MO_V_ARRAY && v->dimensions == 2 && v->size[0] == 1 &&
               member->dimensions == 1 && v->size[1] == member->size[0];
    return have == 0 ? "write one value for each element, or fill(value, n)"
           : row     ? "a vector is written with braces, {1, 2}: brackets make a matrix"
                     : "make the sizes equal";
}

/* The declared value, with the sizes and the type of the member; NULL: none is declared. */
mo_value *mo_binding(mo_model *m, mo_member *member)
{
    mo_instantiate(m, member);
    if (member->inner) return mo_binding(m, member->inner);
    if (member->bound == MO_UNDER_WAY) {
        const char *name = mo_full_name(m, member->object, member->entry->name), *path = name;
        for (mo_member *o = m->binding; o && o != member; o = o->asked_by)
            path = dae_arena_print(&m->context->arena, "%s -> %s",
                                   mo_full_name(m, o->object, o->entry->name), path);
        mo_error(m->context, DAE_E_MODEL, member->entry->place,
                 "the value of '%s' depends on itself", name);
        mo_why(m->context, "%s -> %s", name, path);
        mo_hint(m->context, "give one of them a value of its own");
        member->binding = mo_none(m);
        member->bound = MO_DONE;
    }
    if (member->bound == MO_DONE || member->progress != MO_DONE) return member->binding;
    member->bound = MO_UNDER_WAY;
    mo_place place;
    member->asked_by = m->binding;
    m->binding = member;
    mo_value *v = mo_raw_binding(m, member, &place);
    m->binding = member->asked_by;
    if (member->bound == MO_DONE) /* found to be a cycle meanwhile */
        return member->binding;
    member->bound = MO_DONE;
    if (!v) return NULL;
    member->binding = v;
    if (v->kind == MO_V_NONE) return v;
    int have = v->kind == MO_V_ARRAY ? v->dimensions : 0;
    bool fits = have == member->dimensions;
    for (int d = 0; fits && d < have; d++) fits = v->size[d] == member->size[d];
    if (!fits && have == 0 && member->entry->mod &&
        (member->entry->mod->object || member->entry->mod->each)) {
        mo_value *all = member->primitive
                            ? mo_new_array(m, member->dimensions, member->size, v->type)
                            : mo_new_items(m, member->dimensions, member->size);
        for (size_t i = 0; i < member->count; i++)
            if (member->primitive)
                all->element[i] = v->scalar;
            else
                all->item[i] = v;
        all->view = v->view;
        v = all;
        fits = true;
    }
    if (!fits) {
        mo_value want = { .kind = MO_V_ARRAY,
                          .type = mo_type_of(member->primitive),
                          .dimensions = member->dimensions,
                          .size = member->size };
        if (!member->dimensions) want.kind = MO_V_SCALAR;
        mo_error(m->context, DAE_E_MODEL, place, "'%s' is %s, its value is %s",
                 mo_full_name(m, member->object, member->entry->name), mo_shape(m, &want),
                 mo_shape(m, v));
        mo_hint(m->context, "%s", size_hint(member, v, have));
        member->binding = mo_none(m);
        return member->binding;
    }
    if (member->primitive)
        v = mo_convert(m, v, mo_type_of(member->primitive), member->leaf->enumeration, place,
                       mo_full_name(m, member->object, member->entry->name));
    member->binding = v;
    return v;
}

static mo_value *variables_value(mo_model *m, mo_member *member)
{
    ex_type type = mo_type_of(member->primitive);
    if (!member->dimensions)
        return mo_scalar(m, ex_variable(m->graph, member->first, 0, type), type,
                         member->leaf->enumeration);
    mo_value *v = mo_new_array(m, member->dimensions, member->size, type);
    for (size_t k = 0; k < member->count; k++)
        v->element[k] = ex_variable(m->graph, member->first + (uint32_t)k, 0, type);
    v->view = member->leaf->enumeration;
    return v;
}

static mo_value *objects_value(mo_model *m, mo_member *member)
{
    mo_value *all = mo_new_items(m, member->dimensions, member->size);
    mo_value *item = dae_arena_take(&m->context->arena, member->count + 1, sizeof *item);
    for (size_t k = 0; k < member->count; k++) {
        item[k] =
            (mo_value){ .kind = MO_V_OBJECT, .object = member->element[k], .view = member->type };
        if (!member->dimensions) return &item[0];
        all->item[k] = &item[k];
    }
    all->view = member->type;
    return all;
}

/* Constants, and strings, are worth what they are declared to be. */
static mo_value *constant_value(mo_model *m, mo_member *member)
{
    bool outside =
        member->object->package && member->variability != MO_CONSTANT && !member->object->parent;
    mo_value *v = outside ? NULL : mo_binding(m, member);
    if (v) return v;
    if (outside) {
        mo_error(m->context, DAE_E_MODEL, member->entry->place,
                 "'%s' is used outside of its component, where only constants can be used",
                 mo_full_name(m, member->object, member->entry->name));
        mo_hint(m->context, "declare it 'constant', or pass it as an argument or by modification");
    } else if (member->variability == MO_CONSTANT) {
        mo_error(m->context, DAE_E_MODEL, member->entry->place, "the constant '%s' has no value",
                 mo_full_name(m, member->object, member->entry->name));
        mo_hint(m->context, "write 'constant ... %s = value'", member->entry->name);
    } else
        return mo_string(m, "");
    return mo_none(m);
}

mo_value *mo_member_value(mo_model *m, mo_member *member)
{
    if (member->value) return member->value;
    mo_instantiate(m, member);
    if (member->progress != MO_DONE) return mo_none(m);
    if (member->inner) return mo_member_value(m, member->inner);
    mo_value *v;
    if (member->entry->element->condition && !m->connecting && !member->object->package &&
        member->progress == MO_DONE) {
        mo_error(m->context, DAE_E_MODEL, member->entry->place,
                 "the conditional component '%s' is used outside of 'connect'",
                 mo_full_name(m, member->object, member->entry->name));
        mo_hint(m->context,
                "a conditional component can only be used in 'connect': connect it to a "
                "connector that is always there");
        return mo_none(m);
    }
    if (member->disabled) {
        if (!m->connecting) {
            mo_error(m->context, DAE_E_MODEL, member->entry->place,
                     "'%s' is used although its condition is false",
                     mo_full_name(m, member->object, member->entry->name));
            mo_hint(m->context, "a conditional component can only be used in 'connect'");
        }
        v = mo_none(m);
    } else if (!member->primitive)
        v = objects_value(m, member);
    else if (member->variability == MO_CONSTANT || member->object->package ||
             member->primitive == MO_EXTERNAL_OBJECT ||
             (member->primitive == MO_STRING &&
              (member->variability <= MO_PARAMETER || mo_binding(m, member))))
        v = constant_value(m, member);
    else
        v = variables_value(m, member);
    if (v->kind != MO_V_NONE && !v->member) {
        mo_value *copy = dae_arena_take(&m->context->arena, 1, sizeof *copy);
        *copy = *v;
        copy->member = member;
        v = copy;
    }
    if (!member->disabled) member->value = v;
    return v;
}

/* ------------------------------------------------------------------ attributes ------- */

static const char *const attributes[] = { "quantity",    "unit",     "displayUnit", "min",
                                          "max",         "start",    "fixed",       "nominal",
                                          "stateSelect", "unbounded" };

bool mo_is_attribute(const char *name)
{
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (strcmp(attributes[i], name) == 0) return true;
    return false;
}

/* Real has all of them (section 4.9). */
static bool has_attribute(mo_primitive type, const char *name)
{
    bool limits = strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
    bool all =
        strcmp(name, "quantity") == 0 || strcmp(name, "start") == 0 || strcmp(name, "fixed") == 0;
    switch (type) {
    case MO_INTEGER:
    case MO_ENUMERATION: return all || limits;
    case MO_BOOLEAN:
    case MO_STRING: return all;
    default: return mo_is_attribute(name);
    }
}

/* Is there such an attribute of the simple type? Says so if not. */
void mo_check_attribute(mo_model *m, const mo_view *type, const mo_mod *mod)
{
    if (has_attribute(type->primitive, mod->name)) return;
    bool known = mo_is_attribute(mod->name);
    const char *near = known ? NULL : mo_nearest(mod->name, attributes, 10);
    mo_error(m->context, DAE_E_MODEL, mod->place, "'%s' is no attribute of %s", mod->name,
             type->def->name);
    if (known)
        mo_hint(m->context, "remove it: it has start, fixed and quantity%s",
                has_attribute(type->primitive, "min") ? ", min and max" : "");
    else
        mo_hint(m->context,
                near ? "did you mean '%s'?"
                     : "attributes are start, fixed, "
                       "min, max, nominal, unit, displayUnit, quantity, stateSelect",
                near);
}

void mo_check_mods(mo_model *m, mo_mod *list, mo_view *type)
{
    for (mo_mod *mod = list; mod; mod = mod->next) {
        if (type->primitive) { /* a type may contain types, which are redeclared */
            if (!mo_find_entry(m, type, mod->name)) mo_check_attribute(m, type, mod);
            continue;
        }
        const mo_entry *entry = mo_find_entry(m, type, mod->name);
        if (!entry && !mod->used) {
            mo_scope inside = { .view = type };
            mo_say_unknown(m, &inside, mod->name, mod->place, "element");
        } else if (entry && entry->is_protected && mod->depth == 0 && mod->object) {
            mo_error(m->context, DAE_E_MODEL, mod->place,
                     "'%s' is protected in '%s' and cannot be "
                     "modified from outside",
                     mod->name, type->path);
            mo_hint(m->context, "declare it public, or modify it where the class is extended");
        }
    }
}

/* The value of attribute `mod` for element k, NULL where it is wrong (said). */
static mo_value *attribute(mo_model *m, mo_member *member, mo_mod *mod, size_t k, ex_type type)
{
    mo_place place = mod->place;
    admit_literals(m, member, mod);
    mo_value *v = mo_mod_value(m, mod, member->object, &place);
    if (v->kind == MO_V_ARRAY) {
        if (v->count != member->count) {
            if (k == 0) {
                mo_error(m->context, DAE_E_MODEL, place,
                         "'%s' of '%s' has %zu values for %zu elements", mod->name,
                         mo_full_name(m, member->object, member->entry->name), v->count,
                         member->count);
                mo_hint(m->context, "give one value for each element, or write 'each %s = ...'",
                        mod->name);
            }
            return NULL;
        }
        v = mo_item_at(m, v, k);
    }
    if (v->kind == MO_V_NONE) return NULL;
    v = mo_convert(m, v, type, v->view, place, mod->name);
    return v->kind == MO_V_SCALAR ? v : NULL;
}

static unsigned char depth_of(const mo_object *o)
{
    return (unsigned char)(o->level < FLAT_OF_TYPE ? o->level : FLAT_OF_TYPE - 1);
}

static unsigned char set_at(const mo_member *member, const mo_mod *mod)
{
    return depth_of(mod->object ? mod->object : member->object);
}

static void set_attribute(mo_model *m, mo_member *member, mo_mod *mod, size_t k)
{
    flat_variable *x = &m->flat->variable[member->first + k];
    const char *name = mod->name;
    ex_type type = mo_type_of(member->primitive);
    bool text = strcmp(name, "unit") == 0 || strcmp(name, "displayUnit") == 0 ||
                strcmp(name, "quantity") == 0;
    if (text)
        type = EX_STRING;
    else if (strcmp(name, "fixed") == 0 || strcmp(name, "unbounded") == 0)
        type = EX_BOOLEAN;
    else if (strcmp(name, "stateSelect") == 0)
        type = EX_ENUMERATION;
    mo_value *v = attribute(m, member, mod, k, type);
    if (!v) return;
    x = &m->flat->variable[member->first + k];
    double number = 0;
    uint32_t culprit;
    if (text) {
        const char *s = mo_constant_text(m, v);
        if (name[0] == 'u')
            x->unit = s;
        else if (name[0] == 'd')
            x->display_unit = s;
        else
            x->quantity = s;
    } else if (strcmp(name, "start") == 0) {
        bool own = member->mod && mo_find_mod(member->mod->sub, name);
        x->start = v->scalar;
        if (x->variability > FLAT_PARAMETER) x->set_at = own ? set_at(member, mod) : FLAT_OF_TYPE;
    } else if (strcmp(name, "min") == 0)
        x->min = v->scalar;
    else if (strcmp(name, "max") == 0)
        x->max = v->scalar;
    else if (strcmp(name, "nominal") == 0)
        x->nominal = v->scalar;
    else if (mo_evaluate_number(m, v->scalar, &number, &culprit)) {
        if (strcmp(name, "fixed") == 0)
            x->fixed = number != 0;
        else if (strcmp(name, "stateSelect") == 0 && number >= FLAT_NEVER && number <= FLAT_ALWAYS)
            x->state_select = (flat_state_select)number;
    } else {
        mo_error(m->context, DAE_E_MODEL, mod->place, "'%s' must be a parameter expression", name);
        mo_hint(m->context, "use constants and parameters only");
    }
}

void mo_finish_variables(mo_model *m, mo_member *member)
{
    for (mo_mod *mod = member->leaf->mods; mod; mod = mod->next)
        if (mod->value && mo_is_attribute(mod->name))
            for (size_t k = 0; k < member->count; k++) set_attribute(m, member, mod, k);
    mo_value *v = mo_binding(m, member);
    if (!v || v->kind == MO_V_NONE) return;
    mo_place place = member->mod && member->mod->value ? member->mod->place : member->entry->place;
    for (size_t k = 0; k < member->count; k++) {
        ex_id e = member->dimensions ? v->element[k] : v->scalar;
        flat_variable *x = &m->flat->variable[member->first + k];
        if (x->type == EX_STRING && x->variability > FLAT_PARAMETER)
            x->variability = FLAT_PARAMETER; /* text does not change */
        x->input = false;                    /* nobody gives it a value from outside */
        if (x->variability <= FLAT_PARAMETER) {
            x->binding = e;
            x->set_at = member->mod && member->mod->value ? set_at(member, member->mod)
                                                          : depth_of(member->object);
        } else
            flat_add_equation(m->flat,
                              ex_variable(m->graph, member->first + (uint32_t)k, 0, x->type), e,
                              place, member->object->name);
    }
}
