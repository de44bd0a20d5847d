/* function.c: a call of a function: arguments bound, variables made, body executed. */
#include "modelica/instance.h"

#include <string.h>

enum { MO_MAX_CALLS = 200 };

/* ------------------------------------------------------------------ arguments -------- */

static mo_value *given(mo_entry *e, mo_value **argument, const char **label, size_t count,
                       size_t *position, size_t *used)
{
    for (size_t k = 0; k < count; k++)
        if (label && label[k] == e->name) {
            (*used)++;
            return argument[k];
        }
    if (*position < count && !(label && label[*position])) {
        (*used)++;
        return argument[(*position)++];
    }
    return NULL;
}

static mo_env *declare(mo_run *r, mo_entry *e, mo_value *value)
{
    mo_env *env = dae_arena_take(&r->model->context->arena, 1, sizeof *env);
    *env = (mo_env){ .name = e->name, .value = value, .entry = e, .next = r->scope.env };
    r->scope.env = env;
    return env;
}

/* The declared type and sizes of a variable of the function. A size that is open is -1. */
typedef struct shape {
    mo_view *type;
    int dimensions, size[16];
} shape;

static void add_sizes(mo_run *r, shape *s, mo_ast **a, int count, const mo_scope *scope)
{
    for (int i = 0; i < count && s->dimensions < 16; i++) {
        int n = -1;
        if (a[i]->kind != MO_A_COLON) {
            mo_value *v = mo_evaluate(r->model, scope, a[i]);
            double x;
            uint32_t culprit;
            if (v->kind == MO_V_CLASS) {
                mo_expand(r->model, v->view);
                n = v->view->primitive == MO_BOOLEAN ? 2
                    : v->view->enumeration           ? v->view->enumeration->def->literals
                                                     : -1;
            } else if (v->kind == MO_V_SCALAR &&
                       mo_evaluate_number(r->model, v->scalar, &x, &culprit) && x >= 0) {
                if (x > MO_MAX_VARIABLES)
                    mo_fatal_hint(
                        r->model->context, DAE_E_LIMIT, a[i]->place, "make the array smaller",
                        "an array of %.0f elements; %.0f are possible", x, MO_MAX_VARIABLES);
                n = (int)x;
            }
        }
        s->size[s->dimensions++] = n;
    }
}

/* The type that a type is made of: of a short class, or the primitive one it extends. */
static mo_view *base_type(const mo_view *v)
{
    if (v->def->is_short) return v->bases ? v->base[0] : NULL;
    for (size_t i = 0; v->primitive && i < v->bases; i++)
        if (v->base[i]->primitive) return v->base[i];
    return NULL;
}

static void add_type_sizes(mo_run *r, shape *s, mo_view *v)
{
    mo_scope scope = { .view = v->outer ? v->outer : v, .no_event = true };
    add_sizes(r, s, v->def->alias_dimension, v->def->alias_dimensions, &scope);
    mo_view *base = base_type(v);
    if (base) add_type_sizes(r, s, base);
}

static bool find_shape(mo_run *r, mo_entry *e, shape *s, bool sizes)
{
    mo_model *m = r->model;
    mo_scope scope = r->scope;
    scope.view = e->where;
    s->dimensions = 0;
    s->type = mo_find_class(m, &scope, e->element->type, true);
    if (!s->type) return false;
    mo_expand(m, s->type);
    if (!sizes) { /* only how many */
        s->dimensions = e->element->dimensions + e->element->type_dimensions;
        for (mo_view *v = s->type; v; v = base_type(v)) s->dimensions += v->def->alias_dimensions;
        return true;
    }
    scope.view = e->sizes_in;
    add_sizes(r, s, e->element->dimension, e->element->dimensions, &scope);
    add_sizes(r, s, e->element->type_dimension, e->element->type_dimensions, &scope);
    add_type_sizes(r, s, s->type);
    return true;
}

/* ------------------------------------------------------------------ variables -------- */

static mo_value *blank_scalar(mo_model *m, mo_view *type);

/* The records around one that is being made, and what they are in at last. */
typedef struct nest {
    const mo_view *type;
    const struct nest *around;
} nest;

/* A variable of a function has a value: a simple one, or a record of them that comes to an end. */
static bool may_be_variable(mo_run *r, const mo_entry *e, mo_view *type, const nest *around)
{
    mo_model *m = r->model;
    const mo_class_kind kind = type->def->kind;
    if (type->primitive) return true;
    const bool function = mo_is_kind(m, type, MO_FUNCTION);
    if (function || kind == MO_MODEL || kind == MO_BLOCK || kind == MO_PACKAGE) {
        mo_error(m->context, DAE_E_MODEL, e->place,
                 "the type of '%s' in the function '%s' is the %s '%s'", e->name,
                 r->function->def->name, mo_kind_name(kind), type->def->name);
        mo_hint(m->context, function
                                ? "use a simple type or a record; only an input can be a function"
                                : "use a simple type or a record");
        return false;
    }
    int same = 0;
    for (; around; around = around->around) same += around->type->def == type->def;
    if (same > (type->def->is_short ? 9 : 0)) { /* record A = B(redeclare ...) may be another B */
        mo_error(m->context, DAE_E_MODEL, e->place, "'%s' contains itself", type->def->name);
        mo_hint(m->context, "a record cannot contain a record of its own class");
        return false;
    }
    return true;
}

/* The value that a field of a record has from the start, NULL: none. What the variable's declaration
 * says, output Complex c(re = x), is written in the function; what the record says is written in the
 * record, where the fields before it are known. */
static mo_value *field_given(mo_run *r, const mo_run *inside, const mo_entry *e, mo_view *type,
                             const mo_mod *mod)
{
    mo_scope scope = r->scope;
    if (!mod || !mod->value) {
        mod = e->mod;
        if (!mod || !mod->value) return NULL;
        scope = (mo_scope){ .object = mod->object,
                            .no_event = true,
                            .env = mo_derives_from(type, mod->view) ? inside->scope.env : NULL };
    }
    scope.view = mod->view;
    return mo_evaluate(r->model, &scope, mod->value);
}

static mo_value *blank_record(mo_run *r, mo_view *type, const nest *around, mo_mod *mods);

/* The value of one field before anything is assigned to it. */
static mo_value *blank_field(mo_run *r, mo_run *inside, mo_entry *e, const nest *here, mo_mod *mods)
{
    mo_model *m = r->model;
    shape s;
    if (!find_shape(inside, e, &s, true) || !may_be_variable(r, e, s.type, here)) return mo_none(m);
    const mo_mod *mod = mo_find_mod(mods, e->name);
    mo_value *one = field_given(r, inside, e, (mo_view *)here->type, mod);
    if (one)
        return s.type->primitive ? mo_convert(m, one, mo_type_of(s.type->primitive),
                                              s.type->enumeration, e->place, e->name)
                                 : one;
    one = s.type->primitive ? blank_scalar(m, s.type)
                            : blank_record(r, s.type, here, mod ? mod->sub : NULL);
    for (int d = s.dimensions; d-- > 0 && one->kind != MO_V_NONE;) {
        size_t n = s.size[d] > 0 ? (size_t)s.size[d] : 0;
        mo_value **copy = dae_arena_take(&m->context->arena, n + 1, sizeof *copy);
        for (size_t k = 0; k < n; k++) copy[k] = one;
        one = mo_stack(m, copy, n, e->place);
    }
    return one;
}

/* `mods`: the list of what the declaration of the variable modifies. What it gives is known to the
 * defaults of all other fields. */
static mo_value *blank_record(mo_run *r, mo_view *type, const nest *around, mo_mod *mods)
{
    const nest here = { type, around };
    mo_model *m = r->model;
    mo_value *v = dae_arena_take(&m->context->arena, 1, sizeof *v);
    *v = (mo_value){ .kind = MO_V_RECORD, .view = type };
    v->item = dae_arena_take(&m->context->arena, type->entries + 1, sizeof *v->item);
    v->field = dae_arena_take(&m->context->arena, type->entries + 1, sizeof *v->field);
    mo_run inside = *r;
    inside.scope = (mo_scope){ .view = type, .no_event = true };
    for (int given = 1; given >= 0; given--) {
        v->count = 0;
        for (size_t i = 0; i < type->entries; i++) {
            mo_entry *e = type->entry[i];
            if (e->element->kind != MO_COMPONENT) continue;
            size_t at = v->count++;
            const mo_mod *mod = mo_find_mod(mods, e->name);
            if ((mod && mod->value) != (given == 1)) continue;
            v->field[at] = e->name;
            v->item[at] = blank_field(r, &inside, e, &here, mods);
            if (v->item[at]->kind == MO_V_NONE) return mo_none(m);
            declare(&inside, e, v->item[at]);
        }
    }
    return v;
}

static mo_value *blank_scalar(mo_model *m, mo_view *type)
{
    ex_type t = mo_type_of(type->primitive);
    if (t == EX_STRING) return mo_string(m, "");
    if (t == EX_ENUMERATION && type->enumeration->def->literals)
        return mo_literal(m, type->enumeration, 1);
    return mo_scalar(m, ex_constant(m->graph, 0, t), t, type->enumeration);
}

/* A variable before anything is assigned to it. */
static mo_value *blank(mo_run *r, const shape *s, mo_mod *mods)
{
    mo_model *m = r->model;
    int size[16];
    bool array = s->dimensions > 0;
    for (int d = 0; d < s->dimensions; d++) size[d] = s->size[d] < 0 ? 0 : s->size[d];
    if (!s->type->primitive) {
        mo_value *one = blank_record(r, s->type, NULL, array ? NULL : mods);
        if (!array || one->kind == MO_V_NONE) return one;
        mo_value *all = mo_new_items(m, s->dimensions, size);
        all->view = s->type;
        for (size_t i = 0; i < all->count; i++) all->item[i] = one;
        return all;
    }
    mo_value *one = blank_scalar(m, s->type);
    if (!array) return one;
    mo_value *all = mo_new_array(m, s->dimensions, size, one->type);
    all->view = one->view;
    for (size_t i = 0; i < all->count; i++) all->element[i] = one->scalar;
    return all;
}

static mo_value *checked(mo_run *r, mo_entry *e, mo_value *v, mo_place place)
{
    mo_model *m = r->model;
    shape s;
    if (v->kind == MO_V_NONE || v->kind == MO_V_CLASS || v->kind == MO_V_FUNCTION) return v;
    if (!find_shape(r, e, &s, true) ||
        (!mo_is_kind(m, s.type, MO_FUNCTION) && !may_be_variable(r, e, s.type, NULL)))
        return mo_none(m);
    int have = v->kind == MO_V_ARRAY ? v->dimensions : 0;
    bool fits = have == s.dimensions;
    for (int d = 0; fits && d < have; d++) fits = s.size[d] < 0 || s.size[d] == v->size[d];
    if (!fits) {
        mo_value want = { .kind = s.dimensions ? MO_V_ARRAY : MO_V_SCALAR,
                          .type = mo_type_of(s.type->primitive),
                          .dimensions = s.dimensions,
                          .size = s.size };
        mo_error(m->context, DAE_E_MODEL, place,
                 "'%s' of the function '%s' is %s, the argument is %s", e->name,
                 r->function->def->name, mo_shape(m, &want), mo_shape(m, v));
        mo_hint(m->context, "make the sizes equal");
        return mo_none(m);
    }
    if (s.type->primitive)
        v = mo_convert(m, v, mo_type_of(s.type->primitive), s.type->enumeration, place, e->name);
    return v;
}

/* f(name = ...): is there such an input? `names`: those there are. */
static bool labels_known(mo_run *r, const char **label, size_t count, const char **names,
                         int inputs, mo_place place)
{
    mo_context *c = r->model->context;
    for (size_t k = 0; k < count && label; k++) {
        bool known = !label[k];
        for (int i = 0; i < inputs; i++) known |= label[k] == names[i];
        if (known) continue;
        const char *near = mo_nearest(label[k], names, inputs);
        mo_error(c, DAE_E_MODEL, place, "the function '%s' has no input '%s'",
                 r->function->def->name, label[k]);
        if (near || !inputs)
            mo_hint(c, near ? "did you mean '%s'?" : "remove the argument", near);
        else
            mo_hint(c, inputs > 1 ? "its inputs are '%s', '%s'%s" : "its input is '%s'", names[0],
                    names[inputs > 1], inputs > 2 ? ", ..." : "");
        return false;
    }
    return true;
}

/* The value of an input that no argument is given for; NULL: there is none, and that was said. */
static mo_value *default_of(mo_run *r, const mo_entry *e, mo_place place)
{
    mo_model *m = r->model;
    if (!e->mod || !e->mod->value) {
        mo_error(m->context, DAE_E_MODEL, place, "no argument for '%s' of the function '%s'",
                 e->name, r->function->def->name);
        mo_hint(m->context, "add '%s = ...' to the arguments", e->name);
        return NULL;
    }
    mo_scope scope = r->scope;
    scope.view = e->mod->view;
    scope.object = e->mod->object ? e->mod->object : r->scope.home;
    if (!mo_derives_from(r->function, e->mod->view))
        scope.env = NULL; /* given from outside of the function */
    return mo_evaluate(m, &scope, e->mod->value);
}

/* Inputs, in order; NULL after an error. */
bool mo_bind_inputs(mo_run *r, mo_value **argument, const char **label, size_t count,
                    mo_place place)
{
    mo_model *m = r->model;
    mo_view *f = r->function;
    size_t position = 0, used = 0;
    const char **names = dae_arena_take(&m->context->arena, f->entries + 1, sizeof *names);
    int inputs = 0;
    for (size_t i = 0; i < f->entries; i++)
        if (f->entry[i]->element->kind == MO_COMPONENT && f->entry[i]->element->input)
            names[inputs++] = f->entry[i]->name;
    if (!labels_known(r, label, count, names, inputs, place)) return false;
    mo_env **env = dae_arena_take(&m->context->arena, f->entries + 1, sizeof *env);
    for (int round = 0; round < 2; round++) /* arguments first: defaults may use any of them */
        for (size_t i = 0; i < f->entries; i++) {
            mo_entry *e = f->entry[i];
            if (e->element->kind != MO_COMPONENT || !e->element->input || env[i]) continue;
            mo_value *v = round ? default_of(r, e, place)
                                : given(e, argument, label, count, &position, &used);
            if (v)
                env[i] = declare(r, e, v);
            else if (round)
                return false;
        }
    for (size_t i = 0; i < f->entries; i++) { /* sizes may speak of any input: A[n, size(A, 1)] */
        mo_entry *e = f->entry[i];
        if (!env[i]) continue;
        env[i]->value = checked(r, e, env[i]->value, place);
        if (env[i]->value->kind == MO_V_NONE) return false;
    }
    if (used == count) return true;
    mo_error(m->context, DAE_E_MODEL, place, "%zu arguments for the function '%s', which has %d",
             count, f->def->name, inputs);
    mo_hint(m->context, "remove the arguments that are too many");
    return false;
}

/* A variable of the function that is no input, with its value so far. */
static bool declare_other(mo_run *r, mo_entry *e)
{
    mo_model *m = r->model;
    shape s;
    mo_scope scope = r->scope;
    mo_value *v = NULL;
    bool given = e->mod && e->mod->value;
    if (given) scope.view = e->mod->view;
    if (e->element->variability == MO_CONSTANT && given) {
        declare(r, e, mo_evaluate(m, &scope, e->mod->value));
        return true;
    }
    if (!find_shape(r, e, &s, true) || !may_be_variable(r, e, s.type, NULL)) return false;
    if (given) {
        v = mo_evaluate(m, &scope, e->mod->value);
        if (v->kind == MO_V_NONE) return false;
        if (s.type->primitive)
            v = mo_convert(m, v, mo_type_of(s.type->primitive), s.type->enumeration, e->mod->place,
                           e->name);
    }
    if (!v) v = blank(r, &s, e->mod ? e->mod->sub : NULL);
    if (v->kind == MO_V_NONE) return false;
    mo_env *env = declare(r, e, v);
    env->type = mo_type_of(s.type->primitive);
    env->typed = s.type->primitive != MO_NOT_PRIMITIVE;
    for (int i = 0; i < e->element->dimensions; i++)
        env->open |= e->element->dimension[i]->kind == MO_A_COLON;
    return true;
}

typedef struct declaring {
    mo_run *r;
    char *done; /* of every entry: 0 not yet, 1 under way, 2 declared */
    bool fine;
} declaring;

static void declare_needed(const char *name, void *user);

/* What sizes and values speak of comes first, wherever it is declared. */
/* What the value of a declaration uses, and those of its fields: output R r(a = x). */
static void declare_named(declaring *d, const mo_mod *mod)
{
    if (!mod) return;
    if (mod->value) mo_names_in(mod->value, declare_needed, d);
    for (const mo_mod *sub = mod->sub; sub; sub = sub->next) declare_named(d, sub);
}

static void declare_in_order(declaring *d, mo_entry *e)
{
    const mo_element *element = e->element;
    if (element->kind != MO_COMPONENT || element->input || d->done[e->number] || !d->fine) return;
    d->done[e->number] = 1;
    for (int i = 0; i < element->dimensions; i++)
        mo_names_in(element->dimension[i], declare_needed, d);
    for (int i = 0; i < element->type_dimensions; i++)
        mo_names_in(element->type_dimension[i], declare_needed, d);
    declare_named(d, e->mod);
    d->fine = d->fine && declare_other(d->r, e);
    d->done[e->number] = 2;
}

static void declare_needed(const char *name, void *user)
{
    declaring *d = user;
    mo_entry *e = mo_find_entry(d->r->model, d->r->function, name);
    if (e) declare_in_order(d, e);
}

bool mo_declare_others(mo_run *r)
{
    mo_view *f = r->function;
    declaring d = { .r = r, .fine = true };
    size_t entries = f->entries;
    d.done = dae_arena_take(&r->model->context->arena, entries + 1, 1);
    for (size_t i = 0; i < entries && d.fine; i++) declare_in_order(&d, f->entry[i]);
    return d.fine;
}

/* ------------------------------------------------------------------ the body --------- */

void mo_run_sections(mo_run *r, mo_view *v)
{
    dae_arena_work(&r->model->context->arena);
    for (size_t i = 0; i < v->bases; i++) mo_run_sections(r, v->base[i]);
    mo_view *outside = r->scope.view;
    r->scope.view = v;
    for (int i = 0; i < v->def->sections; i++)
        if (v->def->section[i].algorithm)
            mo_execute(r, v->def->section[i].clause, v->def->section[i].clauses);
    r->scope.view = outside;
}

static const mo_external *external_of(mo_view *v)
{
    if (v->def->external) return v->def->external;
    for (size_t i = 0; i < v->bases; i++) {
        const mo_external *x = external_of(v->base[i]);
        if (x) return x;
    }
    return NULL;
}

/* external "builtin" y = sin(u), and C functions of the mathematical library. */
static mo_value *call_external(mo_run *r, const mo_external *x, mo_place place)
{
    mo_model *m = r->model;
    const char *name = x->function ? x->function : r->function->def->name;
    const char *builtin = strcmp(name, "fabs") == 0  ? "abs"
                          : strcmp(name, "log") == 0 ? "log"
                                                     : name;
    bool pure = mo_is_builtin(builtin) && strcmp(builtin, "sample") != 0;
    if (pure) {
        mo_reference reference = { .part = &(mo_part){ .name = mo_name(m->context, builtin),
                                                       .place = x->place },
                                   .parts = 1,
                                   .place = x->place };
        mo_ast call = {
            .kind = MO_A_CALL, .place = x->place, .count = x->arguments, .item = x->argument
        };
        call.call.reference = &reference;
        if (x->arguments == 0 && !x->result) { /* external "builtin"; alone: its own inputs */
            mo_view *f = r->function;
            mo_ast **item = dae_arena_take(&m->context->arena, f->entries + 1, sizeof *item);
            for (size_t i = 0; i < f->entries; i++) {
                if (f->entry[i]->element->kind != MO_COMPONENT || !f->entry[i]->element->input)
                    continue;
                mo_ast *ref = dae_arena_take(&m->context->arena, 1, sizeof *ref);
                mo_reference *to = dae_arena_take(&m->context->arena, 1, sizeof *to);
                to->part = dae_arena_take(&m->context->arena, 1, sizeof *to->part);
                to->part->name = f->entry[i]->name;
                to->parts = 1;
                ref->kind = MO_A_REFERENCE;
                ref->call.reference = to;
                item[call.count++] = ref;
            }
            call.item = item;
        }
        bool found;
        return mo_builtin(m, &r->scope, &call, builtin, &found);
    }
    mo_value **value = dae_arena_take(&m->context->arena, (size_t)x->arguments + 1, sizeof *value);
    if (!mo_declare_others(r)) /* results may stand among the arguments */
        return mo_none(m);
    for (int i = 0; i < x->arguments; i++) value[i] = mo_evaluate(m, &r->scope, x->argument[i]);
    mo_value *known = mo_table_function(m, name, value, (size_t)x->arguments, place);
    if (!known) known = mo_text_function(m, name, value, (size_t)x->arguments);
    if (known) return known;
    mo_error(m->context, DAE_E_UNSUPPORTED, place,
             "the function '%s' is written in another language (%s)", r->function->path,
             x->language ? x->language : "C");
    mo_hint(m->context,
            "external functions are not called yet, but for those of C's <math.h>: write "
            "'%s' in Modelica",
            r->function->def->name);
    return mo_none(m);
}

static mo_value *results(mo_run *r)
{
    mo_model *m = r->model;
    mo_view *f = r->function;
    mo_value *all = dae_arena_take(&m->context->arena, 1, sizeof *all);
    *all = (mo_value){ .kind = MO_V_TUPLE };
    all->item = dae_arena_take(&m->context->arena, f->entries + 1, sizeof *all->item);
    for (size_t i = 0; i < f->entries; i++) {
        mo_entry *e = f->entry[i];
        if (e->element->kind != MO_COMPONENT || !e->element->output) continue;
        mo_env *env = mo_run_variable(r, e->name);
        all->item[all->count++] = env ? env->value : mo_none(m);
    }
    return all->count == 1 ? all->item[0] : all;
}

/* ------------------------------------------------------------------ the call --------- */

static void say_calls(mo_run *r, mo_place place)
{
    mo_model *m = r->model;
    const char *chain = r->function->def->name;
    int shown = 0;
    for (mo_run *c = r->caller; c && shown < 5; c = c->caller, shown++)
        if (c->function)
            chain = dae_arena_print(&m->context->arena, "%s <- %s", chain, c->function->def->name);
    mo_fatal_hint(
        m->context, DAE_E_LIMIT, place,
        "the recursion must end for the arguments given, and not depend on unknown values",
        "recursion without end, or of more than %d calls: %s <- ...", MO_MAX_CALLS, chain);
}

static bool is_known(mo_model *m, const mo_value *v)
{
    double x;
    switch (v->kind) {
    case MO_V_SCALAR: return v->type == EX_STRING || ex_is_number(m->graph, v->scalar, &x);
    case MO_V_OBJECT: return false;
    case MO_V_ARRAY:
    case MO_V_RECORD:
        for (size_t i = 0; i < v->count; i++)
            if (v->item ? !is_known(m, v->item[i]) : !ex_is_number(m->graph, v->element[i], &x))
                return false;
        return true;
    default: return true;
    }
}

/* A function that calls itself with values nobody knows yet has no end as an expression. */
static bool recursive(const mo_run *r, mo_value **argument, size_t count)
{
    bool active = false;
    for (const mo_run *c = r->caller; c && !active; c = c->caller)
        active = c->function && c->function->def == r->function->def;
    for (size_t i = 0; active && i < count; i++)
        if (!is_known(r->model, argument[i])) return true;
    return false;
}

/* f(array) where f takes scalars: for every element. */
static mo_value *vectorized(mo_model *m, const mo_scope *s, mo_view *f, mo_value **argument,
                            const char **label, size_t count, mo_place place, bool *done)
{
    mo_run probe = { .model = m, .function = f, .scope = { .view = f } };
    const mo_value *shape_of = NULL;
    bool *split = dae_arena_take(&m->context->arena, count + 1, sizeof *split);
    size_t position = 0;
    *done = false;
    for (size_t i = 0; i < f->entries; i++) {
        mo_entry *e = f->entry[i];
        shape want;
        if (e->element->kind != MO_COMPONENT || !e->element->input) continue;
        size_t at = count;
        for (size_t k = 0; k < count; k++)
            if (label && label[k] == e->name) at = k;
        if (at == count && position < count && !(label && label[position])) at = position++;
        if (at == count) continue;
        int have = argument[at]->kind == MO_V_ARRAY ? argument[at]->dimensions : 0;
        if (!have || !find_shape(&probe, e, &want, false) || have <= want.dimensions) continue;
        if (want.dimensions == 0) {
            split[at] = true;
            if (!shape_of)
                shape_of = argument[at];
            else if (!mo_same_sizes(shape_of, argument[at]))
                return NULL;
        }
    }
    if (!shape_of) return NULL;
    *done = true;
    mo_value **item = dae_arena_take(&m->context->arena, shape_of->count + 1, sizeof *item);
    mo_value **one = dae_arena_take(&m->context->arena, count + 1, sizeof *one);
    for (size_t k = 0; k < shape_of->count; k++) {
        for (size_t i = 0; i < count; i++)
            one[i] = split[i] ? mo_item_at(m, argument[i], k) : argument[i];
        item[k] = mo_call_function(m, s, f, one, label, count, place);
        if (item[k]->kind == MO_V_TUPLE) item[k] = item[k]->item[0];
        if (item[k]->kind == MO_V_NONE) return item[k];
    }
    mo_value *all = mo_stack(m, item, shape_of->count, place);
    if (all->kind == MO_V_ARRAY && shape_of->dimensions > 1 && all->dimensions == 1) {
        all->dimensions = shape_of->dimensions;
        all->size = shape_of->size;
    }
    return all;
}

/* ------------------------------------------------------------------ derivatives ------ */

typedef struct stand_in {
    ex_id leaf, value;
} stand_in;

static ex_id put_in_place(ex_graph *g, ex_id leaf, void *user)
{
    (void)g;
    const stand_in *s = user;
    return leaf == s->leaf ? s->value : leaf;
}

/* Which of the arguments is given to the input of this name; count: none of them. */
static size_t argument_of(mo_model *m, mo_view *f, const char *name, const char **label,
                          size_t count)
{
    size_t position = 0;
    mo_expand(m, f);
    for (size_t k = 0; label && k < count; k++)
        if (label[k] == name) return k;
    for (size_t i = 0; i < f->entries; i++) {
        const mo_entry *e = f->entry[i];
        if (e->element->kind != MO_COMPONENT || !e->element->input) continue;
        if (e->name == name)
            return position < count && !(label && label[position]) ? position : count;
        position++;
    }
    return count;
}

static ex_id derived(mo_model *m, ex_id e, const stand_in *s, mo_place place)
{
    ex_id culprit = 0, d = ex_derivative(m->graph, e, s->leaf, &culprit);
    if (culprit) {
        mo_error(m->context, DAE_E_UNSUPPORTED, place, "the function cannot be differentiated");
        mo_hint(m->context, "it contains %s", ex_print(m->graph, culprit, flat_name, m->flat, 60));
        return 0;
    }
    ex_substitute(m->graph, &d, 1, put_in_place, (void *)s);
    return d;
}

/* function f_xy = der(f, x, y): f with something unknown in the place of y, differentiated by it;
 * and the same again for x. */
static mo_value *partial_derivative(mo_model *m, const mo_scope *s, mo_view *f, int derivatives,
                                    mo_value **argument, const char **label, size_t count,
                                    mo_place place)
{
    mo_scope around = { .view = f->outer ? f->outer : f };
    mo_view *whole = mo_find_class(m, &around, f->def->alias, true);
    if (!whole || derivatives == 0)
        return whole ? mo_call_function(m, s, whole, argument, label, count, place) : mo_none(m);
    const char *by = f->def->derivative[derivatives - 1];
    size_t k = argument_of(m, whole, by, label, count);
    if (k == count || argument[k]->kind != MO_V_SCALAR || argument[k]->type > EX_INTEGER) {
        mo_error(m->context, DAE_E_MODEL, place, "there is no derivative of '%s' by '%s'",
                 whole->def->name, by);
        mo_hint(m->context, "derive by a Real input that is given as an argument");
        return mo_none(m);
    }
    stand_in unknown = { ex_leaf(m->graph, EX_LOCAL, UINT32_MAX - (uint32_t)derivatives, 0, 0,
                                 EX_REAL),
                         argument[k]->scalar };
    mo_value **given = dae_arena_take(&m->context->arena, count + 1, sizeof *given);
    for (size_t i = 0; i < count; i++)
        given[i] = i == k ? mo_scalar(m, unknown.leaf, EX_REAL, NULL) : argument[i];
    mo_value *v = partial_derivative(m, s, f, derivatives - 1, given, label, count, place);
    if (v->kind == MO_V_SCALAR) {
        ex_id d = derived(m, v->scalar, &unknown, place);
        return d ? mo_scalar(m, d, EX_REAL, NULL) : mo_none(m);
    }
    if (v->kind != MO_V_ARRAY || !v->element) return v;
    mo_value *all = mo_new_array(m, v->dimensions, v->size, EX_REAL);
    for (size_t i = 0; i < v->count; i++)
        if (!(all->element[i] = derived(m, v->element[i], &unknown, place))) return mo_none(m);
    return all;
}

mo_value *mo_call_function(mo_model *m, const mo_scope *s, mo_view *f, mo_value **argument,
                           const char **label, size_t count, mo_place place)
{
    mo_expand(m, f);
    if (f->def->is_derivative)
        return partial_derivative(m, s, f, f->def->derivatives, argument, label, count, place);
    bool done;
    mo_value *v = vectorized(m, s, f, argument, label, count, place, &done);
    if (done) return v;
    ex_graph *g = m->graph;
    mo_run run = { .model = m,
                   .function = f,
                   .caller = s->run,
                   .level = s->run ? s->run->level + 1 : 1,
                   .returned = ex_constant(g, 0, EX_BOOLEAN),
                   .broken = ex_constant(g, 0, EX_BOOLEAN),
                   .path = ex_constant(g, 1, EX_BOOLEAN) };
    if (s->run)
        run.path = ex_binary(g, EX_AND, s->run->path, ex_unary(g, EX_NOT, s->run->returned));
    if (s->guard) run.path = ex_binary(g, EX_AND, run.path, s->guard);
    run.scope = (mo_scope){ .view = f,
                            .no_event = true,
                            .run = &run,
                            .when = s->when,
                            .home = s->home ? s->home : s->object };
    if (run.level > MO_MAX_CALLS) say_calls(&run, place);
    if (recursive(&run, argument, count))
        return mo_call_procedure(m, s, f, argument, label, count, place, place);
    if (f->def->partial) {
        mo_error(m->context, DAE_E_MODEL, place, "the function '%s' is partial", f->path);
        mo_hint(m->context, "call a complete function that extends it");
        return mo_none(m);
    }
    if (!mo_bind_inputs(&run, argument, label, count, place)) return mo_none(m);
    const mo_external *external = external_of(f);
    if (external) return call_external(&run, external, place);
    int before = m->context->errors;
    size_t assertions = m->flat->assertions, actions = s->when ? s->when->actions : 0;
    if (!mo_declare_others(&run)) return mo_none(m);
    mo_run_sections(&run, f);
    if (!m->context->errors) mo_check_outputs(m, f);
    if (run.stuck) { /* the procedure has the assertions of its own and those of what it calls */
        m->flat->assertions = assertions;
        if (s->when) s->when->actions = actions;
        mo_value *called = mo_call_procedure(m, s, f, argument, label, count, place, run.stuck_at);
        return mo_mark_declared(&run, called, place);
    }
    return m->context->errors > before ? mo_none(m) : mo_mark_declared(&run, results(&run), place);
}
