/* overload.c: the operators of operator records, and how records are made (chapter 14 of the
 * language).
 *
 *     a op b   1. is the function of A.'op' or B.'op' that takes a and b as they are;
 *              2. else the one that takes them when one of the two is made a record by a
 *                 constructor of the type the function wants: 2*c is '*'(Complex(2), c);
 *              3. else, of arrays, goes element by element, with the products of matrices.
 *
 * A vector times a vector or a matrix is only what the record defines: the language does not
 * guess whether a scalar product conjugates.
 */
#include "modelica/instance.h"

#include <string.h>

enum { MOST = 32 }; /* functions of one operator that are looked at */

typedef struct candidates {
    mo_view *function[MOST];
    int count;
} candidates;

typedef enum fitting { NO, CONVERTED, EXACT } fitting;

/* ------------------------------------------------------------------ what fits -------- */

/* The operator record a value, or an array of them, is made of; NULL: it is none. */
static mo_view *record_of(mo_model *m, const mo_value *v)
{
    if (v->kind == MO_V_ARRAY && v->item && v->count) v = v->item[0];
    bool record =
        v->kind == MO_V_RECORD || v->kind == MO_V_OBJECT || (v->kind == MO_V_ARRAY && v->item);
    return record && v->view && mo_is_kind(m, v->view, MO_OPERATOR_RECORD) ? v->view : NULL;
}

static void add_function(candidates *c, mo_view *f)
{
    for (int i = 0; i < c->count; i++)
        if (c->function[i]->def == f->def) return; /* of both operands, or inherited */
    if (c->count < MOST) c->function[c->count++] = f;
}

/* The functions of an operator: it is one, or a list of them. */
static void add_functions(mo_model *m, mo_view *record, const char *op, candidates *c)
{
    const char *quoted = mo_name(m->context, dae_arena_print(&m->context->arena, "'%s'", op));
    mo_entry *e = record ? mo_find_entry(m, record, quoted) : NULL;
    if (!e || e->element->kind != MO_NESTED) return;
    mo_view *all = mo_nested_view(m, e);
    mo_expand(m, all);
    if (mo_is_kind(m, all, MO_FUNCTION)) add_function(c, all);
    for (size_t i = 0; i < all->entries; i++) {
        mo_view *f =
            all->entry[i]->element->kind == MO_NESTED ? mo_nested_view(m, all->entry[i]) : NULL;
        if (f && mo_is_kind(m, f, MO_FUNCTION)) add_function(c, f);
    }
}

static mo_entry *input_at(mo_model *m, mo_view *f, int number, const char *label)
{
    mo_expand(m, f);
    for (size_t i = 0; i < f->entries; i++) {
        mo_entry *e = f->entry[i];
        if (e->element->kind == MO_COMPONENT && e->element->input &&
            (label ? e->name == label : number-- == 0))
            return e;
    }
    return NULL;
}

static mo_view *type_of_input(mo_model *m, const mo_entry *e, int *dimensions)
{
    mo_scope s = { .view = e->where };
    mo_view *type = mo_find_class(m, &s, e->element->type, false);
    *dimensions = e->element->dimensions + e->element->type_dimensions;
    for (mo_view *v = type; v; v = v->def->is_short && v->bases ? v->base[0] : NULL) {
        mo_expand(m, v);
        *dimensions += v->def->alias_dimensions;
    }
    return type;
}

static fitting fits_primitive(mo_primitive want, ex_type have)
{
    switch (want) {
    case MO_REAL: return have == EX_REAL ? EXACT : have == EX_INTEGER ? CONVERTED : NO;
    case MO_INTEGER: return have == EX_INTEGER ? EXACT : NO;
    case MO_BOOLEAN: return have == EX_BOOLEAN ? EXACT : NO;
    case MO_STRING: return have == EX_STRING ? EXACT : NO;
    case MO_ENUMERATION: return have == EX_ENUMERATION ? EXACT : NO;
    default: return NO;
    }
}

static fitting fits(mo_model *m, const mo_entry *input, const mo_value *v)
{
    int dimensions;
    mo_view *type = input ? type_of_input(m, input, &dimensions) : NULL;
    if (!type || dimensions != (v->kind == MO_V_ARRAY ? v->dimensions : 0)) return NO;
    if (v->kind == MO_V_SCALAR || (v->kind == MO_V_ARRAY && v->element))
        return fits_primitive(type->primitive, v->type);
    if (v->kind == MO_V_ARRAY && v->count) v = v->item[0];
    return v->view && (mo_derives_from(v->view, type) || mo_derives_from(type, v->view)) ? EXACT
                                                                                         : NO;
}

static bool may_be_left_out(const mo_entry *input)
{
    return (input->mod && input->mod->value) ||
           (input->element->modifier && input->element->modifier->value);
}

/* Does f take these arguments, with what it has for the others? */
static fitting takes(mo_model *m, mo_view *f, mo_value **argument, const char **label, size_t count)
{
    fitting all = EXACT;
    size_t given = 0;
    for (size_t k = 0; k < count && all != NO; k++) {
        fitting one = fits(m, input_at(m, f, (int)k, label ? label[k] : NULL), argument[k]);
        all = one < all ? one : all;
    }
    for (int i = 0; all != NO; i++) {
        const mo_entry *input = input_at(m, f, i, NULL);
        if (!input) break;
        bool has = i < (int)count && !(label && label[i]);
        for (size_t k = 0; label && k < count; k++) has |= label[k] == input->name;
        given += has;
        if (!has && !may_be_left_out(input)) return NO;
    }
    return given == count ? all : NO;
}

/* The function that takes the arguments, best without conversion; NULL: none, or it is not clear
 * which, and said so. */
static mo_view *choose(mo_model *m, const candidates *c, mo_value **argument, const char **label,
                       size_t count, mo_place place, bool *unclear)
{
    mo_view *best = NULL, *other = NULL;
    fitting most = NO;
    for (int i = 0; i < c->count; i++) {
        fitting now = takes(m, c->function[i], argument, label, count);
        if (now == NO || now < most) continue;
        other = now == most ? best : NULL;
        best = c->function[i];
        most = now;
    }
    if (!other) return best;
    mo_error(m->context, DAE_E_MODEL, place,
             "it is not clear which operator is meant: '%s' or '%s'", other->path, best->path);
    mo_hint(m->context, "convert the operands, or call the function by its name");
    *unclear = true;
    return NULL;
}

/* ------------------------------------------------------------------ one element ------ */

/* The function of an operator that takes the arguments as they are. NULL: there is none. */
mo_value *mo_overloaded(mo_model *m, const mo_scope *s, const char *op, mo_value **argument,
                        size_t count, mo_place place)
{
    candidates c = { .count = 0 };
    bool unclear = false;
    for (size_t i = 0; i < count && i < 2; i++) add_functions(m, record_of(m, argument[i]), op, &c);
    mo_view *f = choose(m, &c, argument, NULL, count, place, &unclear);
    if (f) return mo_call_function(m, s, f, argument, NULL, count, place);
    return unclear ? mo_none(m) : NULL;
}

/* a op b with operand `which` converted to what a function of the other one wants. */
static mo_view *after_conversion(mo_model *m, const char *op, mo_value **operand, int which,
                                 mo_view **constructor, mo_place place, bool *unclear)
{
    candidates c = { .count = 0 };
    mo_view *found = NULL;
    add_functions(m, record_of(m, operand[1 - which]), op, &c);
    for (int i = 0; i < c.count && !*unclear; i++) {
        const mo_entry *kept = input_at(m, c.function[i], 1 - which, NULL);
        const mo_entry *changed = input_at(m, c.function[i], which, NULL);
        int dimensions;
        mo_view *type = changed && fits(m, kept, operand[1 - which]) != NO
                            ? type_of_input(m, changed, &dimensions)
                            : NULL;
        if (!type || dimensions || !mo_is_kind(m, type, MO_OPERATOR_RECORD)) continue;
        candidates make = { .count = 0 };
        add_functions(m, type, "constructor", &make);
        mo_view *g = choose(m, &make, &operand[which], NULL, 1, place, unclear);
        if (!g) continue;
        if (found) {
            mo_error(m->context, DAE_E_MODEL, place,
                     "it is not clear which operator is meant: '%s' or '%s'", found->path,
                     c.function[i]->path);
            mo_hint(m->context, "convert the operands, or call the function by its name");
            *unclear = true;
        }
        found = c.function[i];
        *constructor = g;
    }
    return found;
}

static mo_value *convert_and_call(mo_model *m, const mo_scope *s, const char *op,
                                  mo_value **operand, mo_place place)
{
    for (int which = 0; which < 2; which++) {
        mo_view *constructor = NULL;
        bool unclear = false;
        mo_view *f = after_conversion(m, op, operand, which, &constructor, place, &unclear);
        if (unclear) return mo_none(m);
        if (!f) continue;
        mo_value *use[2] = { operand[0], operand[1] };
        use[which] = mo_call_function(m, s, constructor, &operand[which], NULL, 1, place);
        return use[which]->kind == MO_V_NONE ? use[which]
                                             : mo_call_function(m, s, f, use, NULL, 2, place);
    }
    return NULL;
}

/* ------------------------------------------------------------------ arrays ----------- */

/* Of every element; a scalar goes with each. */
static mo_value *each(mo_model *m, const mo_scope *s, mo_operator op, mo_value *a, mo_value *b,
                      mo_place place)
{
    const mo_value *shape = a->kind == MO_V_ARRAY ? a : b;
    mo_value *all = mo_new_items(m, shape->dimensions, shape->size);
    for (size_t i = 0; i < all->count; i++) {
        all->item[i] = mo_operate(m, s, op, mo_item_at(m, a, i), mo_item_at(m, b, i), place);
        if (all->item[i]->kind == MO_V_NONE) return all->item[i];
    }
    all->view = all->count        ? all->item[0]->view
                : record_of(m, a) ? record_of(m, a)
                                  : record_of(m, b);
    return all;
}

/* Row i of a times column j of b; without elements the record's zero. */
static mo_value *inner(mo_model *m, const mo_scope *s, mo_value *a, size_t i, mo_value *b, size_t j,
                       mo_place place)
{
    size_t n = (size_t)b->size[0], columns = b->dimensions == 2 ? (size_t)b->size[1] : 1;
    mo_value *sum = NULL;
    for (size_t k = 0; k < n && !(sum && sum->kind == MO_V_NONE); k++) {
        mo_value *term = mo_operate(m, s, MO_TIMES, mo_item_at(m, a, i * n + k),
                                    mo_item_at(m, b, k * columns + j), place);
        sum = sum ? mo_operate(m, s, MO_PLUS, sum, term, place) : term;
    }
    if (sum) return sum;
    candidates zero = { .count = 0 };
    add_functions(m, record_of(m, a) ? record_of(m, a) : record_of(m, b), "0", &zero);
    if (zero.count) return mo_call_function(m, s, zero.function[0], NULL, NULL, 0, place);
    mo_error(m->context, DAE_E_MODEL, place, "a product of arrays without elements");
    mo_hint(m->context, "define the operator '0' of the record");
    return mo_none(m);
}

static mo_value *product(mo_model *m, const mo_scope *s, mo_value *a, mo_value *b, mo_place place)
{
    if (a->kind != MO_V_ARRAY || b->kind != MO_V_ARRAY) return each(m, s, MO_TIMES, a, b, place);
    if (a->dimensions != 2 || b->dimensions > 2 || a->size[1] != b->size[0]) return NULL;
    int size[2] = { a->size[0], b->dimensions == 2 ? b->size[1] : 1 };
    mo_value *all = mo_new_items(m, b->dimensions, size);
    for (size_t i = 0; i < all->count; i++) {
        all->item[i] = inner(m, s, a, i / (size_t)size[1], b, i % (size_t)size[1], place);
        if (all->item[i]->kind == MO_V_NONE) return all->item[i];
    }
    all->view = all->count ? all->item[0]->view : NULL;
    return all;
}

static mo_value *of_arrays(mo_model *m, const mo_scope *s, mo_operator op, mo_value *a, mo_value *b,
                           mo_place place)
{
    bool both = a->kind == MO_V_ARRAY && b->kind == MO_V_ARRAY;
    bool same = !both || mo_same_sizes(a, b);
    switch (op) {
    case MO_PLUS: return both && same ? each(m, s, MO_PLUS, a, b, place) : NULL;
    case MO_MINUS: return both && same ? each(m, s, MO_MINUS, a, b, place) : NULL;
    case MO_TIMES: return product(m, s, a, b, place);
    case MO_OVER: return b->kind != MO_V_ARRAY ? each(m, s, MO_OVER, a, b, place) : NULL;
    case MO_DOT_PLUS: return same ? each(m, s, MO_PLUS, a, b, place) : NULL;
    case MO_DOT_MINUS: return same ? each(m, s, MO_MINUS, a, b, place) : NULL;
    case MO_DOT_TIMES: return same ? each(m, s, MO_TIMES, a, b, place) : NULL;
    case MO_DOT_OVER: return same ? each(m, s, MO_OVER, a, b, place) : NULL;
    case MO_DOT_POWER: return same ? each(m, s, MO_POWER, a, b, place) : NULL;
    default: return NULL;
    }
}

static mo_operator undotted(mo_operator op)
{
    switch (op) {
    case MO_DOT_PLUS: return MO_PLUS;
    case MO_DOT_MINUS: return MO_MINUS;
    case MO_DOT_TIMES: return MO_TIMES;
    case MO_DOT_OVER: return MO_OVER;
    case MO_DOT_POWER: return MO_POWER;
    default: return op;
    }
}

/* a op b where one of them is a record, or an array of records. NULL: it is not defined. */
mo_value *mo_operate_records(mo_model *m, const mo_scope *s, mo_operator op, mo_value *a,
                             mo_value *b, mo_place place)
{
    mo_value *operand[2] = { a, b };
    bool arrays = a->kind == MO_V_ARRAY || b->kind == MO_V_ARRAY;
    if (!record_of(m, a) && !record_of(m, b)) return NULL;
    if (arrays && undotted(op) != op) return of_arrays(m, s, op, a, b, place);
    const char *name = mo_operator_text(undotted(op));
    mo_value *v = mo_overloaded(m, s, name, operand, 2, place);
    if (!v) v = convert_and_call(m, s, name, operand, place);
    return v || !arrays ? v : of_arrays(m, s, op, a, b, place);
}

/* -a of a record, or of every record of an array. NULL: it is not defined. */
mo_value *mo_negate_records(mo_model *m, const mo_scope *s, mo_value *a, mo_place place)
{
    mo_value *v = mo_overloaded(m, s, "-", &a, 1, place);
    if (v || a->kind != MO_V_ARRAY || !record_of(m, a)) return v;
    mo_value *all = mo_new_items(m, a->dimensions, a->size);
    all->view = a->view;
    for (size_t i = 0; i < a->count; i++) {
        all->item[i] = mo_negate(m, s, a->item[i], place);
        if (all->item[i]->kind == MO_V_NONE) return all->item[i];
    }
    return all;
}

/* ------------------------------------------------------------------ constructors ----- */

/* A value for a field has its type: Real im = 0 is Real. */
static mo_value *as_field(mo_model *m, const mo_entry *e, mo_value *v, mo_place place)
{
    mo_scope s = { .view = e->where };
    mo_view *type = mo_find_class(m, &s, e->element->type, false);
    if (type) mo_expand(m, type);
    if (!type || type->primitive < MO_REAL || type->primitive > MO_ENUMERATION) return v;
    return mo_convert(m, v, mo_type_of(type->primitive), type->enumeration, place, e->name);
}

/* What the arguments of a record's constructor give to field e; NULL: nothing. */
static mo_value *argument_for(const mo_entry *e, mo_value **argument, const char **label,
                              size_t count, size_t *position, size_t *used)
{
    for (size_t k = 0; label && k < count; k++)
        if (label[k] == e->name) {
            ++*used;
            return argument[k];
        }
    if (*position == count || (label && label[*position])) return NULL;
    ++*used;
    return argument[(*position)++];
}

/* Rec(name = ...): is there such a field? */
static bool fields_known(mo_model *m, mo_view *v, const char **label, size_t count, mo_place place)
{
    const char **field = dae_arena_take(&m->context->arena, v->entries + 3, sizeof *field);
    int fields = 0;
    for (size_t i = 0; i < v->entries; i++)
        if (v->entry[i]->element->kind == MO_COMPONENT) field[fields++] = v->entry[i]->name;
    for (size_t k = 0; label && k < count; k++) {
        bool known = !label[k];
        for (int i = 0; i < fields && !known; i++) known = field[i] == label[k];
        if (known) continue;
        const char *near = mo_nearest(label[k], field, fields);
        mo_error(m->context, DAE_E_MODEL, place, "there is no '%s' in the record '%s'", label[k],
                 v->def->name);
        if (near)
            mo_hint(m->context, "did you mean '%s'?", near);
        else
            mo_hint(m->context, "its fields are %s%s%s%s", fields ? field[0] : "none",
                    fields > 1 ? ", " : "", fields > 1 ? field[1] : "", fields > 2 ? ", ..." : "");
        return false;
    }
    return true;
}

/* The fields of a record in the making; defaults may use any other field (section 12.6). */
typedef struct making {
    mo_model *m;
    const mo_scope *scope;
    mo_view *record;
    mo_value **value; /* of every entry, NULL: none yet */
    bool *under_way;
    mo_env *env; /* those that are known */
    mo_place place;
} making;

static void set_field(making *k, const mo_entry *e, mo_value *value)
{
    mo_env *with = dae_arena_take(&k->m->context->arena, 1, sizeof *with);
    value = as_field(k->m, e, value, k->place);
    *with = (mo_env){ .name = e->name, .value = value, .next = k->env };
    k->env = with;
    k->value[e->number] = value;
}

static void make_field_of_name(const char *name, void *user);

static void make_field(making *k, const mo_entry *e)
{
    const mo_mod *mod = e->mod;
    if (e->element->kind != MO_COMPONENT || k->value[e->number] || k->under_way[e->number] ||
        !mod || !mod->value)
        return;
    bool inside = mo_derives_from(k->record, mod->view);
    k->under_way[e->number] = true;
    if (inside) mo_names_in(mod->value, make_field_of_name, k);
    mo_scope scope = { .object = mod->object,
                       .view = mod->view,
                       .env = inside ? k->env : NULL,
                       .no_event = k->scope->no_event,
                       .run = k->scope->run };
    set_field(k, e, mo_evaluate(k->m, &scope, mod->value));
}

static void make_field_of_name(const char *name, void *user)
{
    making *k = user;
    const mo_entry *e = mo_find_entry(k->m, k->record, name);
    if (e) make_field(k, e);
}

/* Rec(1, b = 2): a value for every field, in their order or by their names. */
static mo_value *all_fields(mo_model *m, const mo_scope *s, mo_view *v, mo_value **argument,
                            const char **label, size_t count, mo_place place)
{
    dae_arena *arena = &m->context->arena;
    mo_value *r = dae_arena_take(arena, 1, sizeof *r);
    *r = (mo_value){ .kind = MO_V_RECORD, .view = v };
    mo_expand(m, v);
    size_t entries = v->entries, position = 0, used = 0;
    r->item = dae_arena_take(arena, entries + 1, sizeof *r->item);
    r->field = dae_arena_take(arena, entries + 1, sizeof *r->field);
    making k = { .m = m, .scope = s, .record = v, .place = place };
    k.value = dae_arena_take(arena, entries + 1, sizeof *k.value);
    k.under_way = dae_arena_take(arena, entries + 1, sizeof *k.under_way);
    if (!fields_known(m, v, label, count, place)) return mo_none(m);
    for (size_t i = 0; i < entries; i++) {
        mo_value *given = v->entry[i]->element->kind == MO_COMPONENT
                              ? argument_for(v->entry[i], argument, label, count, &position, &used)
                              : NULL;
        if (given) set_field(&k, v->entry[i], given);
    }
    for (size_t i = 0; i < entries; i++) {
        mo_entry *e = v->entry[i];
        if (e->element->kind != MO_COMPONENT) continue;
        make_field(&k, e);
        if (!k.value[i]) {
            mo_error(m->context, DAE_E_MODEL, place, "no value for '%s' of the record '%s'",
                     e->name, v->def->name);
            mo_hint(m->context, "add '%s = ...' to the arguments", e->name);
            return mo_none(m);
        }
        r->field[r->count] = e->name;
        r->item[r->count++] = k.value[i];
    }
    if (used == count) return r;
    mo_error(m->context, DAE_E_MODEL, place, "too many arguments for the record '%s'",
             v->def->name);
    mo_hint(m->context, "its fields are %s%s%s%s", r->count ? r->field[0] : "none",
            r->count > 1 ? ", " : "", r->count > 1 ? r->field[1] : "", r->count > 2 ? ", ..." : "");
    return mo_none(m);
}

/* The constructor of a record: its own where it has one that fits. */
mo_value *mo_record_of(mo_model *m, const mo_scope *s, mo_view *v, mo_value **argument,
                       const char **label, size_t count, mo_place place)
{
    candidates own = { .count = 0 };
    bool unclear = false;
    add_functions(m, v, "constructor", &own);
    mo_view *f = choose(m, &own, argument, label, count, place, &unclear);
    for (const mo_run *r = s->run; r && f; r = r->caller)
        if (r->function && r->function->def == f->def)
            f = NULL; /* inside of the constructor it is the record's own */
    if (f) return mo_call_function(m, s, f, argument, label, count, place);
    return unclear ? mo_none(m) : all_fields(m, s, v, argument, label, count, place);
}
