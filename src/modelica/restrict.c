/* restrict.c: what a class of a special kind may contain and inherit (Modelica 3.6, section 4.7,
 * 7.1.3, 12.2): a record has no equations, a package only constants and classes, ...
 *
 * Each class is looked at once, when it is used for the first time.
 */
#include "modelica/instance.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_name[] = { [MO_CLASS] = "class",
                                         [MO_MODEL] = "model",
                                         [MO_BLOCK] = "block",
                                         [MO_RECORD] = "record",
                                         [MO_CONNECTOR] = "connector",
                                         [MO_TYPE] = "type",
                                         [MO_PACKAGE] = "package",
                                         [MO_FUNCTION] = "function",
                                         [MO_OPERATOR] = "operator",
                                         [MO_OPERATOR_RECORD] = "operator record",
                                         [MO_OPERATOR_FUNCTION] = "operator function",
                                         [MO_EXPANDABLE_CONNECTOR] = "expandable connector",
                                         [MO_OPTIMIZATION] = "optimization" };

const char *mo_kind_name(mo_class_kind kind)
{
    return kind_name[kind];
}

static bool is_function(mo_class_kind k)
{
    return k == MO_FUNCTION || k == MO_OPERATOR_FUNCTION;
}

static bool is_record(mo_class_kind k)
{
    return k == MO_RECORD || k == MO_OPERATOR_RECORD;
}

static bool is_connector(mo_class_kind k)
{
    return k == MO_CONNECTOR || k == MO_EXPANDABLE_CONNECTOR;
}

/* ------------------------------------------------------------------ sections --------- */

static void sections(mo_model *m, const mo_class *c)
{
    bool data = is_record(c->kind) || is_connector(c->kind) || c->kind == MO_PACKAGE ||
                c->kind == MO_TYPE || c->kind == MO_OPERATOR;
    int algorithms = 0;
    for (int i = 0; i < c->sections; i++) {
        const mo_section *s = &c->section[i];
        if (data) {
            mo_error(m->context, DAE_E_MODEL, s->place, "the %s '%s' has %s", kind_name[c->kind],
                     c->name, s->algorithm ? "an algorithm" : "equations");
            mo_hint(m->context, "make it a model, or move the %s to the model that uses it",
                    s->algorithm ? "algorithm" : "equations");
            return;
        }
        if (!is_function(c->kind)) continue;
        algorithms += s->algorithm && !s->initial;
        if (!s->algorithm || s->initial || algorithms > 1) {
            mo_error(m->context, DAE_E_MODEL, s->place, "the function '%s' has %s", c->name,
                     !s->algorithm ? "equations"
                     : s->initial  ? "an initial algorithm"
                                   : "more than one algorithm");
            mo_hint(m->context, s->algorithm ? "write one 'algorithm' section"
                                             : "write 'algorithm' and statements with ':='");
            return;
        }
    }
}

/* ------------------------------------------------------------------ elements --------- */

static void say_element(mo_model *m, const mo_class *c, const mo_element *e, const char *what,
                        const char *hint)
{
    mo_error(m->context, DAE_E_MODEL, e->place, "'%s' of the %s '%s' %s",
             e->kind == MO_NESTED ? e->nested->name : e->name, kind_name[c->kind], c->name, what);
    mo_hint(m->context, "%s", hint);
}

static void record_element(mo_model *m, const mo_class *c, const mo_element *e)
{
    if (e->is_protected)
        say_element(m, c, e, "is protected", "everything in it is public: remove 'protected'");
    else if (e->inner || e->outer)
        say_element(m, c, e, e->inner ? "is 'inner'" : "is 'outer'",
                    "inner and outer components belong into models");
    else if (is_record(c->kind) && (e->flow || e->stream || e->input || e->output))
        say_element(m, c, e,
                    e->flow     ? "is 'flow'"
                    : e->stream ? "is 'stream'"
                    : e->input  ? "is 'input'"
                                : "is 'output'",
                    "make it a connector, or remove the prefix");
    else if (c->kind == MO_EXPANDABLE_CONNECTOR && e->flow)
        say_element(m, c, e, "is 'flow'", "put the flow variable into a connector of its own");
}

static bool is_reserved(const char *name)
{
    return strcmp(name, "Real") == 0 || strcmp(name, "Integer") == 0 ||
           strcmp(name, "Boolean") == 0 || strcmp(name, "String") == 0;
}

static void component(mo_model *m, const mo_class *c, const mo_element *e)
{
    if (is_record(c->kind) || is_connector(c->kind))
        record_element(m, c, e);
    else if (c->kind == MO_PACKAGE && e->variability != MO_CONSTANT && !e->outer)
        say_element(m, c, e, "is no constant",
                    "declare it 'constant', or make the package a model");
    else if (c->kind == MO_OPERATOR)
        say_element(m, c, e, "is a component", "an operator contains only functions");
    else if (is_function(c->kind)) {
        if (e->inner || e->outer)
            say_element(m, c, e, e->inner ? "is 'inner'" : "is 'outer'",
                        "pass it to the function as an argument");
        else if (!e->is_protected && !e->input && !e->output && e->variability > MO_PARAMETER &&
                 e->type->parts == 1 && is_reserved(e->type->part[0].name))
            say_element(m, c, e, "is neither input nor output",
                        "declare it 'input' or 'output', or below 'protected'");
    }
}

static void element(mo_model *m, const mo_class *c, const mo_element *e)
{
    if (e->kind != MO_COMPONENT && e->kind != MO_NESTED) return;
    const char *name = e->kind == MO_NESTED ? e->nested->name : e->name;
    if (is_reserved(name)) {
        mo_error(m->context, DAE_E_MODEL, e->place, "'%s' is the name of a builtin type", name);
        mo_hint(m->context, "choose another name");
    } else if (e->kind == MO_COMPONENT) {
        component(m, c, e);
        if (e->type && e->type->parts == 1 && !e->type->global && e->type->part[0].name == name) {
            mo_error(m->context, DAE_E_MODEL, e->place, "'%s' has the name of its own type", name);
            mo_hint(m->context, "rename the component");
        }
    } else if (c->kind == MO_OPERATOR && !is_function(e->nested->kind))
        say_element(m, c, e, "is no function", "an operator contains only functions");
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (const char *const *)a, y = (uintptr_t) * (const char *const *)b;
    return (x > y) - (x < y);
}

/* Equal names are equal pointers, so sorting brings them together. */
static void literals_once(mo_model *m, const mo_class *c)
{
    size_t count = (size_t)c->literals;
    const char **sorted = dae_arena_take(&m->context->arena, count + 1, sizeof *sorted);
    for (size_t i = 0; i < count; i++) sorted[i] = c->literal[i];
    qsort(sorted, count, sizeof *sorted, by_address);
    for (size_t i = 1; i < count; i++)
        if (sorted[i] == sorted[i - 1]) {
            mo_error(m->context, DAE_E_MODEL, c->place,
                     "the literal '%s' is twice in the enumeration '%s'", sorted[i], c->name);
            mo_hint(m->context, "remove one of the two");
        }
}

static void literals(mo_model *m, const mo_class *c)
{
    static const char *const attribute[] = { "quantity", "min", "max", "start", "fixed" };
    for (int i = 0; i < c->literals; i++) {
        for (size_t k = 0; k < sizeof attribute / sizeof *attribute; k++)
            if (strcmp(c->literal[i], attribute[k]) == 0) {
                mo_error(m->context, DAE_E_MODEL, c->place,
                         "'%s' is a literal of the enumeration '%s' and the name of an attribute",
                         c->literal[i], c->name);
                mo_hint(m->context, "choose another name for the literal");
            }
    }
    literals_once(m, c);
}

/* The k-th name that an import brings, NULL: none by its name. */
static const char *import_name(const mo_element *e, int k)
{
    if (e->kind != MO_IMPORT || e->import_all) return NULL;
    if (e->import_names) return k < e->import_names ? e->import_name[k] : NULL;
    return k > 0 ? NULL : e->name ? e->name : e->import->part[e->import->parts - 1].name;
}

static bool same_import(const mo_element *a, const mo_element *b)
{
    if (a->import_names || b->import_names || a->import->parts != b->import->parts) return false;
    for (int i = 0; i < a->import->parts; i++)
        if (a->import->part[i].name != b->import->part[i].name) return false;
    return true;
}

typedef struct import_use {
    const char *name;
    const mo_element *element;
    int number;
} import_use;

static int by_name(const void *a, const void *b)
{
    const import_use *x = a, *y = b;
    int names = by_address(&x->name, &y->name);
    return names ? names : (x->number > y->number) - (x->number < y->number);
}

/* Several qualified imports must not bring the same name (section 13.2.2). */
static void imports(mo_model *m, const mo_class *c)
{
    import_use *use = NULL;
    size_t count = 0, capacity = 0;
    for (int i = 0; i < c->elements; i++)
        for (int k = 0; import_name(c->element[i], k); k++) {
            use = dae_arena_grow(&m->context->arena, use, count, &capacity, sizeof *use);
            use[count++] = (import_use){ import_name(c->element[i], k), c->element[i], i };
        }
    if (count > 1) qsort(use, count, sizeof *use, by_name);
    for (size_t i = 1; i < count; i++) {
        if (use[i].name != use[i - 1].name || same_import(use[i].element, use[i - 1].element))
            continue;
        mo_error(m->context, DAE_E_MODEL, use[i].element->place, "'%s' is imported twice",
                 use[i].name);
        mo_hint(m->context, "give one of them another name: import Name = ...;");
    }
}

void mo_check_class(mo_model *m, mo_class *c)
{
    if (c->checked) return;
    c->checked = true;
    sections(m, c);
    literals(m, c);
    imports(m, c);
    for (int i = 0; i < c->elements; i++) element(m, c, c->element[i]);
}

/* ------------------------------------------------------------------ bases ------------ */

/* Which kinds a class of kind `c` may inherit from. */
static bool may_inherit(mo_class_kind c, mo_class_kind base)
{
    if (base == MO_CLASS || base == c) return true;
    switch (c) {
    case MO_CLASS: return true;
    case MO_MODEL: return base == MO_BLOCK || is_record(base);
    case MO_BLOCK: return is_record(base);
    case MO_CONNECTOR:
    case MO_EXPANDABLE_CONNECTOR: return is_record(base) || is_connector(base) || base == MO_TYPE;
    case MO_TYPE: return base == MO_TYPE;
    case MO_FUNCTION:
    case MO_OPERATOR_FUNCTION: return is_function(base);
    case MO_RECORD:
    case MO_OPERATOR_RECORD: return is_record(base);
    default: return false;
    }
}

/* The class `v` extends `base`; false: it may not, and that was said. */
bool mo_check_base(mo_model *m, mo_view *v, mo_view *base, bool short_class, mo_place place)
{
    mo_class_kind kind = v->def->kind, below = base->def->kind;
    if (base->primitive && !short_class && kind != MO_TYPE && !is_connector(kind) &&
        kind != MO_CLASS && kind != MO_PACKAGE) {
        mo_error(m->context, DAE_E_MODEL, place, "the %s '%s' extends the type '%s'",
                 kind_name[kind], v->def->name, base->def->name);
        mo_hint(m->context, "only types and connectors extend simple types: declare a component");
        return false;
    }
    if (short_class || base->primitive || may_inherit(kind, below)) return true;
    mo_error(m->context, DAE_E_MODEL, place, "the %s '%s' extends the %s '%s'", kind_name[kind],
             v->def->name, kind_name[below], base->def->name);
    mo_hint(m->context, "a %s can extend %s", kind_name[kind],
            kind == MO_MODEL     ? "models, blocks and records"
            : kind == MO_BLOCK   ? "blocks and records"
            : is_connector(kind) ? "connectors, records and types"
            : is_function(kind)  ? "functions"
            : is_record(kind)    ? "records"
            : kind == MO_PACKAGE ? "packages"
                                 : "classes of its own kind");
    return false;
}

/* ------------------------------------------------------------------ outputs ---------- */

static bool is_target(const mo_ast *left, const char *name)
{
    if (left->kind == MO_A_TUPLE) {
        for (int i = 0; i < left->count; i++)
            if (left->item[i] && is_target(left->item[i], name)) return true;
        return false;
    }
    return left->kind == MO_A_REFERENCE && left->call.reference->part[0].name == name;
}

static bool assigned(mo_clause *const *clause, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (clause[i]->kind == MO_C_ASSIGN && is_target(clause[i]->left, name)) return true;
        for (int k = 0; k < clause[i]->branches; k++)
            if (assigned(clause[i]->branch[k].clause, clause[i]->branch[k].clauses, name))
                return true;
    }
    return false;
}

static bool assigned_in(const mo_view *v, const char *name)
{
    for (int i = 0; i < v->def->sections; i++)
        if (assigned(v->def->section[i].clause, v->def->section[i].clauses, name)) return true;
    for (size_t i = 0; i < v->bases; i++)
        if (assigned_in(v->base[i], name)) return true;
    return false;
}

/* Has it a value by its declaration, or no elements? */
static bool needs_no_value(mo_model *m, const mo_entry *e)
{
    if (e->mod && (e->mod->value || e->mod->sub)) return true;
    for (int i = 0; i < e->element->dimensions; i++) {
        const mo_ast *size = e->element->dimension[i];
        if (size->kind == MO_A_INTEGER && size->integer == 0) return true;
    }
    mo_scope scope = { .view = e->where };
    mo_view *type = mo_find_class(m, &scope, e->element->type, false);
    if (!type) return true;
    mo_expand(m, type);
    for (size_t i = 0; i < type->entries; i++)
        if (type->entry[i]->mod && type->entry[i]->mod->value) return true;
    return type->primitive == MO_NOT_PRIMITIVE && !type->entries;
}

void mo_check_outputs(mo_model *m, mo_view *function)
{
    if (function->def->outputs_checked) return;
    function->def->outputs_checked = true;
    for (size_t i = 0; i < function->entries; i++) {
        const mo_entry *e = function->entry[i];
        if (e->element->kind != MO_COMPONENT || !e->element->output || needs_no_value(m, e) ||
            assigned_in(function, e->name))
            continue;
        mo_warning(m->context, e->place, "the output '%s' of the function '%s' is never assigned",
                   e->name, function->def->name);
        mo_hint(m->context,
                "assign it, '%s := ...', or give it a value where it is declared; "
                "0 is taken",
                e->name);
    }
}
