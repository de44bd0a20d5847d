/* strings.c: text of values, String(x); and functions on text that the standard library has in C
 * (Modelica.Utilities.Strings), for texts that are known; printing is left out.
 *
 * Text of what is not known yet is an expression (words.c of src/expression): it becomes words where
 * a message is given.
 */
#include "modelica/instance.h"

#include "expression/walk.h"

#include <ctype.h>
#include <string.h>

/* ------------------------------------------------------------------ String(x) -------- */

typedef struct layout {
    int digits, width;
    bool left;
    const char *format; /* NULL: none is given */
} layout;

/* significantDigits (of a Real), minimumLength, leftJustified; or format. */
static bool read_layout(mo_model *m, const mo_ast *a, mo_value **argument, size_t count, bool real,
                        layout *l)
{
    static const char *const name[] = { "significantDigits", "minimumLength", "leftJustified",
                                        "format" };
    *l = (layout){ .digits = 6, .left = true };
    for (size_t i = 1; i < count; i++) {
        const char *label = a->call.label ? a->call.label[i] : NULL;
        size_t which = real ? i - 1 : i;
        for (size_t k = 0; label && k < 4; k++)
            if (strcmp(name[k], label) == 0) which = k;
        double x = 0;
        uint32_t culprit;
        const char *format = mo_constant_text(m, argument[i]);
        if (format) {
            l->format = format;
            continue;
        }
        if (which > 2 || argument[i]->kind != MO_V_SCALAR ||
            !mo_evaluate_number(m, argument[i]->scalar, &x, &culprit)) {
            mo_error(m->context, DAE_E_MODEL, a->item[i]->place,
                     "this says nothing about the text");
            mo_hint(m->context,
                    "String(x, significantDigits = 6, minimumLength = 0, leftJustified = "
                    "true), with known values");
            return false;
        }
        if (which == 0)
            l->digits = (int)x;
        else if (which == 1)
            l->width = (int)(x > 500 ? 500 : x);
        else
            l->left = x != 0;
    }
    return true;
}

static ex_id padded(mo_model *m, const char *text, const layout *l)
{
    return ex_text(
        m->graph, dae_arena_print(&m->context->arena, "%*s", l->left ? -l->width : l->width, text));
}

static ex_id text_of_number(mo_model *m, const mo_value *v, const layout *l)
{
    dae_arena *arena = &m->context->arena;
    const char *format = l->format;
    const char *width =
        l->width > 0 ? dae_arena_print(arena, "%s%d", l->left ? "-" : "", l->width) : "";
    if (!format)
        format = v->type == EX_INTEGER ? dae_arena_print(arena, "%sd", width)
                                       : dae_arena_print(arena, "%s.%dg", width, l->digits);
    return ex_binary(m->graph, EX_TEXT_OF, v->scalar, ex_text(m->graph, format));
}

static ex_id text_of_literal(mo_model *m, const mo_value *v, const layout *l)
{
    const mo_class *def = v->view->enumeration->def;
    if (!def->literals) return ex_text(m->graph, "");
    ex_id text = padded(m, def->literal[def->literals - 1], l);
    for (int i = def->literals - 1; i-- > 0;) {
        ex_id is = ex_binary(m->graph, EX_EQUAL, v->scalar,
                             mo_literal(m, v->view->enumeration, i + 1)->scalar);
        text = ex_if(m->graph, is, padded(m, def->literal[i], l), text);
    }
    return text;
}

/* String(x, ...) */
mo_value *mo_text_of(mo_model *m, const mo_scope *s, const mo_ast *a, mo_value **argument,
                     size_t count)
{
    mo_value *v = argument[0];
    layout l;
    if (v->kind == MO_V_RECORD || v->kind == MO_V_OBJECT) {
        mo_value *own = mo_overloaded(m, s, "String", argument, count, a->place);
        if (own) return own;
    }
    if (v->kind != MO_V_SCALAR || (v->type == EX_ENUMERATION && !v->view)) {
        mo_error(m->context, DAE_E_MODEL, a->place, "'String' of %s", mo_shape(m, v));
        mo_hint(m->context, "String(x) makes text of a number, a Boolean or an enumeration value");
        return mo_none(m);
    }
    if (!read_layout(m, a, argument, count, v->type == EX_REAL, &l)) return mo_none(m);
    switch (v->type) {
    case EX_STRING: return v;
    case EX_BOOLEAN:
        return mo_scalar(m,
                         ex_if(m->graph, v->scalar, padded(m, "true", &l), padded(m, "false", &l)),
                         EX_STRING, NULL);
    case EX_ENUMERATION: return mo_scalar(m, text_of_literal(m, v, &l), EX_STRING, NULL);
    default: return mo_scalar(m, text_of_number(m, v, &l), EX_STRING, NULL);
    }
}

/* Does an expression speak of slots of a procedure alone, or of what becomes one? */
static bool speaks_of_slots(mo_model *m, ex_id e, bool variables)
{
    bool slots = true;
    ex_walk *w = ex_walk_begin(m->graph, &e, 1);
    for (size_t i = 0; i < w->count && slots; i++) {
        ex_op op = (ex_op)ex_at(m->graph, w->order[i])->op;
        slots = op == EX_LOCAL || op == EX_NUMBER || ex_operand_count(m->graph, w->order[i]) > 0 ||
                (variables && (op == EX_VARIABLE || op == EX_TIME));
    }
    ex_walk_end(m->graph, w);
    return slots;
}

/* The same in a procedure, whose slots have values when it is spoken; in that of an algorithm
 * variables of the model are slots, too. */
ex_id mo_procedure_text(mo_model *m, ex_id e, bool variables)
{
    const ex_node n = *ex_at(m->graph, e);
    if (n.op == EX_JOIN)
        return ex_binary(m->graph, EX_JOIN, mo_procedure_text(m, n.a, variables),
                         mo_procedure_text(m, n.b, variables));
    if (n.op == EX_TEXT_OF && speaks_of_slots(m, n.a, variables)) return e;
    if (n.op == EX_IF && speaks_of_slots(m, n.a, variables))
        return ex_if(m->graph, n.a, mo_procedure_text(m, n.b, variables),
                     mo_procedure_text(m, n.c, variables));
    return mo_known_text(m, e);
}

/* A text of what is known now; the rest stands as its expression: "p is <2*x>". */
ex_id mo_known_text(mo_model *m, ex_id e)
{
    const ex_node n = *ex_at(m->graph, e);
    dae_arena *arena = &m->context->arena;
    if (n.op == EX_JOIN)
        return ex_binary(m->graph, EX_JOIN, mo_known_text(m, n.a), mo_known_text(m, n.b));
    if (!e || n.op == EX_TEXT) return e;
    double x;
    uint32_t culprit;
    if (n.op == EX_TEXT_OF && mo_evaluate_number(m, n.a, &x, &culprit))
        return ex_binary(m->graph, EX_TEXT_OF, ex_number(m->graph, x), n.b);
    if (n.op == EX_IF && mo_evaluate_number(m, n.a, &x, &culprit))
        return mo_known_text(m, x != 0 ? n.b : n.c);
    ex_id what = n.op == EX_TEXT_OF ? n.a : e;
    return ex_text(
        m->graph, dae_arena_print(arena, "<%s>", ex_print(m->graph, what, flat_name, m->flat, 80)));
}

/* ------------------------------------------------------------------ the library ------ */

typedef struct call {
    mo_model *m;
    const char *text; /* the first argument */
    mo_value **argument;
    size_t count;
} call;

static int integer_at(const call *c, size_t i)
{
    double x = 0;
    uint32_t culprit;
    if (i >= c->count || c->argument[i]->kind != MO_V_SCALAR ||
        !mo_evaluate_number(c->m, c->argument[i]->scalar, &x, &culprit))
        return 0;
    return x > 1e9 ? 1000000000 : x < -1e9 ? -1000000000 : (int)x;
}

static mo_value *length_of(const call *c)
{
    return mo_integer(c->m, (double)strlen(c->text));
}

/* substring(s, from, to), from 1; outside of the text there is nothing. */
static mo_value *substring(const call *c)
{
    int length = (int)strlen(c->text), from = integer_at(c, 1), to = integer_at(c, 2);
    if (from < 1) from = 1;
    if (to < from) to = from;
    if (to > length) to = length;
    return mo_string(c->m, from > length ? ""
                                         : dae_arena_copy(&c->m->context->arena, c->text + from - 1,
                                                          (size_t)(to - from + 1)));
}

static mo_value *skip_white_space(const call *c)
{
    int at = integer_at(c, 1), length = (int)strlen(c->text);
    if (at < 1) at = 1;
    while (at <= length && isspace((unsigned char)c->text[at - 1])) at++;
    return mo_integer(c->m, at);
}

/* Types.Compare: Less, Equal, Greater */
static mo_value *compare(const call *c)
{
    const char *other = c->count > 1 ? mo_constant_text(c->m, c->argument[1]) : NULL;
    if (!other) return NULL;
    bool exact = integer_at(c, 2) != 0;
    int order = 0;
    for (size_t i = 0; order == 0; i++) {
        unsigned char a = (unsigned char)c->text[i], b = (unsigned char)other[i];
        order = exact ? a - b : tolower(a) - tolower(b);
        if (!a || !b) break;
    }
    int value = order < 0 ? 1 : order == 0 ? 2 : 3;
    return mo_scalar(c->m, ex_constant(c->m->graph, value, EX_ENUMERATION), EX_ENUMERATION, NULL);
}

static mo_value *nothing(const call *c)
{
    mo_value *none = dae_arena_take(&c->m->context->arena, 1, sizeof *none);
    *none = (mo_value){ .kind = MO_V_TUPLE };
    return none;
}

static const struct {
    const char *name;
    mo_value *(*run)(const call *c);
} functions[] = {
    { "ModelicaStrings_length", length_of },
    { "ModelicaStrings_substring", substring },
    { "ModelicaStrings_skipWhiteSpace", skip_white_space },
    { "ModelicaStrings_compare", compare },
    { "ModelicaInternal_print", nothing },
};

/* A function on text of the library in C; NULL: it is none of them, or the text is not known. */
mo_value *mo_text_function(mo_model *m, const char *name, mo_value **argument, size_t count)
{
    const char *text = count ? mo_constant_text(m, argument[0]) : NULL;
    if (strcmp(name, "ModelicaInternal_print") == 0) text = "";
    for (size_t i = 0; text && i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].run(&(call){ m, text, argument, count });
    return NULL;
}
