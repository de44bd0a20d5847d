/* lookup.c: what a name means.
 *
 * From the inside out: iterators and variables of a function; then class by class the elements
 * written or inherited there, its imports, the class around it; at last the builtin types. An
 * element of a class that the scope's object (or an object around it) is an instance of means
 * the component there; otherwise it must be a constant.
 */
#include "modelica/instance.h"

#include <string.h>

/* ------------------------------------------------------------------ classes ---------- */

static mo_view *builtin_type(mo_model *m, const char *name)
{
    static const char *const names[] = {
        [MO_REAL] = "Real",     [MO_INTEGER] = "Integer", [MO_BOOLEAN] = "Boolean",
        [MO_STRING] = "String", [MO_CLOCK] = "Clock",     [MO_EXTERNAL_OBJECT] = "ExternalObject"
    };
    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        if (names[i] && strcmp(names[i], name) == 0) return m->builtin[i];
    return NULL;
}

static bool has_view(mo_view *have, const mo_view *v)
{
    if (have == v) return true;
    for (size_t i = 0; i < have->bases; i++)
        if (has_view(have->base[i], v)) return true;
    return false;
}

/* The object, of the scope's or around it, whose class (or a base of it) is v. */
static mo_object *object_of(mo_object *o, const mo_view *v)
{
    for (; o; o = o->parent)
        if (has_view(o->view, v)) return o;
    return NULL;
}

/* A class found by its name in `where`. An outer class stands for the inner one of the same name in
 * the nearest object around that which declares it. */
static mo_view *class_seen(mo_model *m, mo_object *from, mo_entry *e, const mo_view *where)
{
    mo_object *o = e->element->outer ? object_of(from, where) : NULL;
    if (!o || o->package) return mo_nested_view(m, e);
    while ((o = o->parent)) {
        mo_entry *inner = mo_find_entry(m, o->view, e->name);
        if (inner && inner->element->kind == MO_NESTED && inner->element->inner)
            return mo_nested_view(m, inner);
    }
    if (!e->alone) {
        e->alone = true;
        mo_warning(m->context, e->place, "there is no 'inner' class '%s' for this 'outer' one",
                   e->name);
        mo_hint(m->context, "declare 'inner ... %s' in the model; the one written here is used",
                e->name);
    }
    return mo_nested_view(m, e);
}

static mo_view *class_of_entry(mo_model *m, mo_entry *e)
{
    return e && e->element->kind == MO_NESTED ? mo_nested_view(m, e) : NULL;
}

/* The class at a path of names from the root: what import means. */
static mo_view *class_at(mo_model *m, const mo_reference *r, int parts)
{
    mo_view *v = m->root;
    for (int i = 0; i < parts && v; i++)
        v = class_of_entry(m, mo_find_entry(m, v, r->part[i].name));
    return v;
}

/* Most classes have none, and some have thousands of elements. */
static bool has_imports(mo_class *def)
{
    if (def->imports == MO_IMPORTS_UNKNOWN) {
        def->imports = MO_IMPORTS_NONE;
        for (int i = 0; i < def->elements; i++)
            if (def->element[i]->kind == MO_IMPORT) def->imports = MO_IMPORTS_SOME;
    }
    return def->imports == MO_IMPORTS_SOME;
}

static void say_ambiguous(mo_model *m, const char *name, const mo_element *import,
                          const mo_view *first, const mo_view *second)
{
    mo_error(m->context, DAE_E_MODEL, import->place, "'%s' is imported from two packages", name);
    mo_why(m->context, "it is in '%s' and in '%s'", first->path, second->path);
    mo_hint(m->context, "import it by its name: import %s.%s;", first->path, name);
}

/* One can only import from packages, and what is public in them (section 13.2.1). */
static mo_view *source_of(mo_model *m, const mo_element *import, int parts, const char *name)
{
    mo_view *from = parts == 0 ? m->root : class_at(m, import->import, parts);
    if (!from) return NULL;
    mo_class_kind kind = from->def->kind;
    const mo_entry *e = mo_find_entry(m, from, name);
    bool package = kind == MO_PACKAGE || kind == MO_CLASS || kind == MO_TYPE ||
                   kind == MO_OPERATOR || kind == MO_OPERATOR_RECORD;
    if ((!package || (e && e->is_protected)) && !m->context->errors) {
        mo_error(m->context, DAE_E_MODEL, import->place, "'%s' cannot be imported from the %s '%s'",
                 name, mo_kind_name(kind), from->path);
        mo_hint(m->context, "only public elements of packages can be imported");
    }
    return from;
}

/* What an import clause of the class makes of a name: the view that holds it and its name there. */
static mo_view *imported(mo_model *m, mo_view *v, const char *name, const char **there)
{
    mo_view *result = NULL, *another = NULL;
    const mo_element *again = NULL;
    *there = name;
    if (!has_imports(v->def)) return NULL;
    for (int i = 0; i < v->def->elements; i++) {
        mo_element *e = v->def->element[i];
        if (e->kind != MO_IMPORT) continue;
        int parts = e->import->parts;
        const char *last = e->import->part[parts - 1].name;
        *there = name;
        if (e->import_names) {
            for (int k = 0; k < e->import_names; k++)
                if (e->import_name[k] == name) return source_of(m, e, parts, name);
        } else if (e->import_all) {
            mo_view *package = class_at(m, e->import, parts);
            const mo_entry *one = package && package != v ? mo_find_entry(m, package, name) : NULL;
            if (!one || one->is_protected) continue;
            if (result && result != package) {
                another = package;
                again = e;
            }
            result = result ? result : package; /* qualified imports come first */
        } else if ((e->name ? e->name : last) == name) {
            *there = last;
            return source_of(m, e, parts - 1, last);
        }
    }
    *there = name;
    if (another && !m->context->errors) say_ambiguous(m, name, again, result, another);
    return result;
}

/* Around an encapsulated class only what the language defines is seen (section 5.3.1). */
static mo_entry *find_predefined(mo_model *m, const char *name, mo_view **where)
{
    *where = m->root;
    for (int i = 0; i < m->predefined; i++)
        if (m->root_class->element[i]->nested->name == name) return mo_find_entry(m, m->root, name);
    return NULL;
}

/* The entry a simple name leads to, and the view it was found in. */
static mo_entry *find_entry(mo_model *m, mo_view *v, const char *name, mo_view **where)
{
    for (bool encapsulated = false; v; v = v->outer) {
        if (encapsulated) return find_predefined(m, name, where);
        encapsulated = v->def->encapsulated;
        mo_entry *e = mo_find_entry(m, v, name);
        const char *there = name;
        if (!e) {
            mo_view *from = imported(m, v, name, &there);
            if (from) {
                e = mo_find_entry(m, from, there);
                *where = from;
                if (e) return e;
            }
        }
        *where = v;
        if (e) return e;
    }
    return NULL;
}

static mo_view *first_class(mo_model *m, const mo_scope *s, const mo_reference *r)
{
    const char *name = r->part[0].name;
    mo_view *where = NULL;
    for (int i = MO_REAL; i <= MO_STRING; i++) /* nobody can redefine them */
        if (m->builtin[i]->def->name == name) return m->builtin[i];
    mo_entry *e =
        r->global ? mo_find_entry(m, m->root, name) : find_entry(m, s->view, name, &where);
    if (e && e->element->kind == MO_COMPONENT && r->parts > 1) { /* through a component */
        mo_scope in = { .view = e->where };
        return mo_find_class(m, &in, e->element->type, false);
    }
    if (e && e->element->kind == MO_NESTED)
        return where ? class_seen(m, s->object, e, where) : mo_nested_view(m, e);
    return builtin_type(m, name);
}

static mo_value *say_protected(mo_model *m, const mo_entry *e, const mo_view *in, mo_place place)
{
    mo_error(m->context, DAE_E_MODEL, place, "'%s' is protected in '%s'", e->name, in->path);
    mo_hint(m->context, "declare it public, or use another element of '%s'", in->def->name);
    return mo_none(m);
}

mo_view *mo_find_class(mo_model *m, const mo_scope *s, const mo_reference *r, bool report)
{
    mo_view *v = first_class(m, s, r);
    if (!v) {
        if (report) mo_say_unknown(m, s, r->part[0].name, r->place, "class");
        return NULL;
    }
    for (int i = 1; i < r->parts; i++) {
        mo_entry *e = mo_find_entry(m, v, r->part[i].name);
        mo_view *next = class_of_entry(m, e);
        if (next && e->is_protected && report) {
            say_protected(m, e, v, r->part[i].place);
            return NULL;
        }
        if (!next) {
            if (report) {
                mo_scope inside = { .view = v };
                mo_say_unknown(m, &inside, r->part[i].name, r->part[i].place, "class");
            }
            return NULL;
        }
        v = next;
    }
    return v;
}

/* ------------------------------------------------------------------ values ----------- */

static mo_value *class_value(mo_model *m, mo_view *v)
{
    mo_value *value = dae_arena_take(&m->context->arena, 1, sizeof *value);
    *value = (mo_value){ .kind = MO_V_CLASS, .view = v };
    return value;
}

static mo_value *literal(mo_model *m, mo_view *v, const char *name);

/* import Package.Enumeration.literal */
static mo_value *imported_literal(mo_model *m, mo_view *v, const char *name)
{
    for (; v; v = v->outer) {
        const char *there = name;
        mo_view *from = imported(m, v, name, &there);
        if (from) mo_expand(m, from);
        if (from && from->primitive == MO_ENUMERATION) return literal(m, from, there);
    }
    return NULL;
}

/* An element that is inner and outer is two: those below see the inner one, its own class and those
 * who name it from outside the outer one. */
static mo_member *outer_of(mo_model *m, mo_member *member)
{
    const mo_element *e = member->entry->element;
    if (!e->inner || !e->outer || member->object->package) return member;
    for (mo_object *o = member->object->parent; o; o = o->parent) {
        mo_member *inner = mo_find_member(m, o, member->entry->name);
        if (inner && inner->entry->element->inner) return inner;
    }
    return member;
}

mo_env *mo_find_env(mo_env *env, const char *name)
{
    for (mo_env *e = env; e; e = e->next) {
        if (e->name == name) return e;
        if (!e->index) continue;
        size_t at = ((uintptr_t)name >> 4) & (e->index->size - 1);
        while (e->index->slot[at] && e->index->slot[at]->name != name)
            at = (at + 1) & (e->index->size - 1);
        return e->index->slot[at];
    }
    return NULL;
}

/* Is `where` a class that `v` is written in? */
static bool is_around(const mo_view *v, const mo_view *where)
{
    while (v && v != where) v = v->outer;
    return v == where;
}

/* Of a component that has elements, one may be a constant. */
static bool is_no_constant(mo_model *m, mo_member *member)
{
    if (member->entry->element->variability == MO_CONSTANT) return false;
    mo_instantiate(m, member);
    return member->progress == MO_DONE && member->primitive && member->variability != MO_CONSTANT;
}

/* A class inside of another sees its constants only (section 5.3.1). */
static mo_value *say_not_constant(mo_model *m, const mo_scope *s, const mo_entry *e,
                                  const mo_view *where)
{
    mo_error(m->context, DAE_E_MODEL, e->place,
             "'%s' of '%s' is used in '%s', but it is no constant", e->name, where->def->name,
             s->view->def->name);
    mo_hint(m->context, "declare it 'constant', or give '%s' a parameter for it",
            s->view->def->name);
    return mo_none(m);
}

/* NULL: there is no such name. */
mo_value *mo_find_name(mo_model *m, const mo_scope *s, const char *name)
{
    const mo_env *local = mo_find_env(s->env, name);
    if (local) return local->value;
    mo_view *where = NULL;
    mo_entry *e = find_entry(m, s->view, name, &where);
    if (e && e->element->kind == MO_NESTED)
        return class_value(m, class_seen(m, s->object, e, where));
    if (e) {
        mo_object *o = object_of(s->object, where);
        if (!o) o = mo_constants(m, where);
        mo_member *member = mo_find_member(m, o, e->name); /* imports may rename it */
        if (member && where != s->view && is_around(s->view, where) && is_no_constant(m, member))
            return say_not_constant(m, s, e, where);
        return member ? mo_member_value(m, outer_of(m, member)) : NULL;
    }
    mo_view *type = builtin_type(m, name);
    return type ? class_value(m, type) : imported_literal(m, s->view, name);
}

static mo_value *literal(mo_model *m, mo_view *v, const char *name)
{
    mo_class *def = v->enumeration->def;
    for (int i = 0; i < def->literals; i++)
        if (def->literal[i] == name) return mo_literal(m, v->enumeration, i + 1);
    return NULL;
}

/* The items of an array, replaced one by one: the dimensions of the array, then their own. */
static mo_value *restack(mo_model *m, const mo_value *v, mo_value **item, mo_place place)
{
    mo_value *flat = mo_stack(m, item, v->count, place);
    if (flat->kind != MO_V_ARRAY) return flat;
    int rest = flat->dimensions - 1;
    int *size = dae_arena_take(&m->context->arena, (size_t)(v->dimensions + rest), sizeof *size);
    memcpy(size, v->size, (size_t)v->dimensions * sizeof *size);
    memcpy(size + v->dimensions, flat->size + 1, (size_t)rest * sizeof *size);
    flat->dimensions = v->dimensions + rest;
    flat->size = size;
    return flat;
}

static mo_value *select_each(mo_model *m, const mo_scope *s, mo_value *v, const char *name,
                             mo_place place)
{
    mo_value **item = dae_arena_take(&m->context->arena, v->count + 1, sizeof *item);
    for (size_t i = 0; i < v->count; i++) {
        item[i] = mo_select(m, s, v->item[i], name, place);
        if (item[i]->kind == MO_V_NONE) return item[i];
    }
    return restack(m, v, item, place);
}

/* a.b[i]: the subscripts are those of b, for every element of an array a. */
static mo_value *select_part(mo_model *m, const mo_scope *s, mo_value *v, const mo_part *p)
{
    if (v->kind == MO_V_ARRAY && v->item && p->subscripts) {
        mo_value **item = dae_arena_take(&m->context->arena, v->count + 1, sizeof *item);
        for (size_t i = 0; i < v->count; i++) {
            item[i] = select_part(m, s, v->item[i], p);
            if (item[i]->kind == MO_V_NONE) return item[i];
        }
        return restack(m, v, item, p->place);
    }
    v = mo_select(m, s, v, p->name, p->place);
    return p->subscripts ? mo_subscript(m, s, v, p->subscript, p->subscripts, p->place) : v;
}

mo_value *mo_select(mo_model *m, const mo_scope *s, mo_value *v, const char *name, mo_place place)
{
    mo_value *found = NULL;
    mo_view *in = NULL;
    if (v->kind == MO_V_NONE) return v;
    if (v->kind == MO_V_ARRAY && v->item) return select_each(m, s, v, name, place);
    if (v->kind == MO_V_RECORD)
        found = mo_field(m, v, name);
    else if (v->kind == MO_V_OBJECT) {
        in = v->object->view;
        mo_member *member = mo_find_member(m, v->object, name);
        mo_entry *e = member ? member->entry : mo_find_entry(m, in, name);
        if (e && e->is_protected) return say_protected(m, e, in, place);
        if (member)
            found = mo_member_value(m, outer_of(m, member));
        else if (e && e->element->kind == MO_NESTED) {
            found = class_value(m, class_seen(m, v->object, e, in));
            found->object = v->object;
        }
    } else if (v->kind == MO_V_CLASS) {
        in = v->view;
        mo_expand(m, in);
        mo_entry *e = mo_find_entry(m, in, name);
        if (e && e->is_protected) return say_protected(m, e, in, place);
        if (in->primitive == MO_ENUMERATION)
            found = literal(m, in, name);
        else if (e && e->element->kind == MO_NESTED)
            found = class_value(m, mo_nested_view(m, e));
        else if (e) {
            mo_object *o = object_of(s->object, in);
            mo_member *member = mo_find_member(m, o ? o : mo_constants(m, in), name);
            found = member ? mo_member_value(m, member) : NULL;
        }
    }
    if (found) return found;
    mo_scope inside = { .view = in };
    if (in)
        mo_say_unknown(m, &inside, name, place, "element");
    else {
        mo_error(m->context, DAE_E_MODEL, place, "there is no '%s' in a value of type %s", name,
                 mo_shape(m, v));
        if (v->kind == MO_V_RECORD && v->count)
            mo_hint(m->context, "its fields are %s%s%s", v->field[0], v->count > 1 ? ", " : "",
                    v->count > 1 ? v->field[1] : "");
        else
            mo_hint(m->context, "only components, records and packages have elements");
    }
    return mo_none(m);
}

/* A variable of a function is no longer its own when it is read as a whole. */
static void share(const mo_scope *s, const mo_reference *r, const mo_value *result)
{
    mo_env *e = mo_find_env(s->env, r->part[0].name);
    if (e && (!r->part[0].subscripts || result->kind != MO_V_SCALAR)) e->owned = false;
}

mo_value *mo_reference_value(mo_model *m, const mo_scope *s, const mo_reference *r)
{
    mo_value *v;
    const char *first = r->part[0].name;
    if (r->global) {
        mo_scope root = { .view = m->root };
        v = mo_find_name(m, &root, first);
    } else
        v = mo_find_name(m, s, first);
    if (!v && r->parts == 1 && strcmp(first, "time") == 0 && s->run && s->run->function) {
        mo_error(m->context, DAE_E_MODEL, r->place, "a function uses 'time'");
        mo_hint(m->context, "pass the time to the function as an argument");
        return mo_none(m);
    }
    if (!v && r->parts == 1 && strcmp(first, "time") == 0)
        return mo_scalar(m, ex_time(m->graph), EX_REAL, NULL);
    if (!v) {
        mo_say_unknown(m, s, first, r->place, "name");
        return mo_none(m);
    }
    for (int i = 0; i < r->parts; i++) {
        if (i > 0)
            v = select_part(m, s, v, &r->part[i]);
        else if (r->part[i].subscripts)
            v = mo_subscript(m, s, v, r->part[i].subscript, r->part[i].subscripts,
                             r->part[i].place);
        if (v->kind == MO_V_NONE) return v;
    }
    if (s->run) share(s, r, v);
    return v;
}

/* ------------------------------------------------------------------ unknown names ---- */

typedef struct name_list {
    const char **name;
    size_t names, capacity;
} name_list;

static void collect(mo_model *m, name_list *list, const char *name)
{
    list->name = dae_arena_grow(&m->context->arena, list->name, list->names, &list->capacity,
                                sizeof *list->name);
    list->name[list->names++] = name;
}

static void collect_scope(mo_model *m, const mo_scope *s, name_list *list, bool outwards)
{
    for (mo_env *e = s->env; e; e = e->next) collect(m, list, e->name);
    for (mo_view *v = s->view; v; v = outwards ? v->outer : NULL) {
        for (size_t i = 0; i < v->entries; i++) collect(m, list, v->entry[i]->name);
        if (v->enumeration)
            for (int i = 0; i < v->enumeration->def->literals; i++)
                collect(m, list, v->enumeration->def->literal[i]);
    }
}

/* Names from other languages and older libraries. */
static const char *foreign(const char *name)
{
    static const char *const pair[][2] = {
        { "double", "Real" },
        { "float", "Real" },
        { "real", "Real" },
        { "int", "Integer" },
        { "integer", "Integer" },
        { "bool", "Boolean" },
        { "boolean", "Boolean" },
        { "string", "String" },
        { "ln", "log" },
        { "pow", "the operator ^" },
        { "t", "time" },
        { "True", "true" },
        { "False", "false" },
        { "TRUE", "true" },
        { "FALSE", "false" },
        { "pi", "Modelica.Constants.pi" },
        { "PI", "Modelica.Constants.pi" },
        { "arctan", "atan" },
        { "arcsin", "asin" },
        { "arccos", "acos" },
        { "fabs", "abs" },
        { "diff", "der" },
        { "ddt", "der" },
        { "derivative", "der" },
        { "deriv", "der" },
        { "D", "der" },
        { "Time", "time" },
    };
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
        if (strcmp(pair[i][0], name) == 0) return pair[i][1];
    return NULL;
}

/* An import that names what is not there; NULL: no import is to blame. */
static const mo_element *wrong_import(const mo_scope *s, const char *name)
{
    for (const mo_view *v = s->view; v; v = v->outer)
        for (int i = 0; i < v->def->elements; i++) {
            const mo_element *e = v->def->element[i];
            if (e->kind == MO_IMPORT && !e->import_all && !e->import_names &&
                (e->name ? e->name : e->import->part[e->import->parts - 1].name) == name)
                return e;
        }
    return NULL;
}

/* The library that is not there, of an import of everything in a package or of a list. */
static const char *missing_package(mo_model *m, const mo_scope *s)
{
    for (const mo_view *v = s->view; v && v->def; v = v->outer)
        for (int i = 0; i < v->def->elements; i++) {
            const mo_element *e = v->def->element[i];
            if (e->kind == MO_IMPORT && (e->import_all || e->import_names) &&
                !class_at(m, e->import, 1))
                return e->import->part[0].name;
        }
    return NULL;
}

/* "'a', 'b', 'c'": the values of an enumeration, the first of many. */
static const char *literals_of(mo_model *m, const mo_view *v)
{
    enum { MOST = 12 };
    const char *text = "";
    const mo_view *e = v->enumeration ? v->enumeration : v;
    for (int i = 0; i < e->def->literals && i < MOST; i++)
        text = dae_arena_print(&m->context->arena, "%s%s'%s'", text, i ? ", " : "",
                               e->def->literal[i]);
    return e->def->literals > MOST ? dae_arena_print(&m->context->arena, "%s, ...", text) : text;
}

/* Is a name looked for in a class alone, and not around it? */
static bool is_element(const mo_scope *s, const char *what)
{
    return strcmp(what, "element") == 0 ||
           (!s->object && !s->env && s->view->def && strcmp(what, "class") == 0 && !s->view->outer);
}

/* What is known there and spelt nearly so; *rate: x where dx is asked for. Nobody sees the hints of the
 * hundredth error. */
static const char *nearest_known(mo_model *m, const mo_scope *s, const char *name, const char *what,
                                 const char **rate)
{
    if (m->context->errors > MO_SHOWN) return NULL;
    name_list list = { 0 };
    collect_scope(m, s, &list, !is_element(s, what));
    if (strcmp(what, "class") == 0 || strcmp(what, "name") == 0) {
        collect(m, &list, "Real");
        collect(m, &list, "Integer");
        collect(m, &list, "Boolean");
        collect(m, &list, "String");
    }
    if (strcmp(what, "function") == 0 || strcmp(what, "name") == 0) {
        int count;
        const char *const *builtin = mo_builtin_names(&count);
        for (int i = 0; i < count; i++) collect(m, &list, builtin[i]);
        if (strcmp(what, "name") == 0) collect(m, &list, "time");
    }
    size_t kept = 0; /* the name itself may stand for something else */
    for (size_t i = 0; i < list.names; i++) {
        if (name[0] == 'd' && strcmp(list.name[i], name + 1) == 0) *rate = list.name[i];
        if (list.name[i] != name) list.name[kept++] = list.name[i];
    }
    return mo_nearest(name, list.name, (int)kept);
}

void mo_say_unknown(mo_model *m, const mo_scope *s, const char *name, mo_place place,
                    const char *what)
{
    const mo_element *import = strcmp(what, "element") != 0 ? wrong_import(s, name) : NULL;
    if (import) {
        mo_error(m->context, DAE_E_MODEL, import->place, "there is no '%s' to import",
                 mo_reference_text(m->context, import->import));
        const char *missing = class_at(m, import->import, 1) ? NULL : import->import->part[0].name;
        mo_hint(m->context,
                missing ? "give the folder that contains '%s' with --library or in MODELICAPATH"
                        : "correct the name, or give the folder of its library with --library",
                missing);
        return;
    }
    const char *rate = NULL, *near = nearest_known(m, s, name, what, &rate);
    const char *known = foreign(name);
    const char *in = s->view && s->view->path && s->view->path[0] ? s->view->path : NULL;
    if (strcmp(what, "element") == 0)
        mo_error(m->context, DAE_E_MODEL, place, "there is no '%s' in '%s'", name, in ? in : "?");
    else if (in)
        mo_error(m->context, DAE_E_MODEL, place, "the %s '%s' is not known in '%s'", what, name,
                 in);
    else
        mo_error(m->context, DAE_E_MODEL, place, "the %s '%s' is not known", what, name);
    const char *missing = missing_package(m, s);
    if (missing) mo_why(m->context, "an import names '%s', which is not found", missing);
    if (missing)
        mo_hint(m->context, "give the folder that contains '%s' with --library or in MODELICAPATH",
                missing);
    else if (rate && strcmp(what, "name") == 0)
        mo_hint(m->context, "a derivative is written der(%s)", rate);
    else if (near)
        mo_hint(m->context, "did you mean '%s'?", near);
    else if (is_element(s, what) && s->view && s->view->primitive == MO_ENUMERATION)
        mo_hint(m->context, "its values are %s", literals_of(m, s->view));
    else if (known)
        mo_hint(m->context, "in Modelica it is %s", known);
    else if (strcmp(name, "Modelica") == 0)
        mo_hint(m->context, "the Modelica Standard Library is not found: give its folder with "
                            "--library or in MODELICAPATH");
    else if (strcmp(what, "element") == 0)
        mo_hint(m->context, "look at the declaration of '%s'", in ? in : "the class");
    else
        mo_hint(m->context, "declare it, import it, or give the folder of its library with "
                            "--library");
}
