/* flat_text.c: a flat model as Modelica text that can be read again.
 *
 * A name with dots or subscripts is a quoted identifier, 'tank[2].p', as in flat Modelica; so is
 * the name of a class out of a package. Enumerations are declared in front, functions that are
 * procedures after them: one array of numbers goes in, the slots come out (graph.h).
 */
#include "model/flat.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MOST = 100000 }; /* characters of an expression; what is longer ends in "..." */

typedef struct writer {
    flat_model *m;
    const char **name; /* of the variables, quoted where they must be */
    char *text;
    size_t length, capacity;
} writer;

static void put(writer *w, const char *s)
{
    size_t n = strlen(s);
    if (w->length + n + 1 > w->capacity) {
        size_t capacity = 2 * (w->length + n + 1) + 1024;
        char *more = dae_arena_take(w->m->graph->arena, capacity, 1);
        if (w->length) memcpy(more, w->text, w->length);
        w->text = more;
        w->capacity = capacity;
    }
    memcpy(w->text + w->length, s, n);
    w->length += n;
    w->text[w->length] = 0;
}

/* ------------------------------------------------------------------ names ------------ */

static bool is_identifier(const char *name)
{
    if (name[0] == '\'') { /* quoted already, as a whole? */
        const char *end = name + 1;
        while (*end && *end != '\'') end += *end == '\\' && end[1] ? 2 : 1;
        return *end && !end[1];
    }
    if (isdigit((unsigned char)name[0])) return false;
    while (isalnum((unsigned char)*name) || *name == '_') name++;
    return !*name;
}

const char *flat_quoted(dae_arena *arena, const char *name)
{
    if (is_identifier(name)) return name;
    char *text = dae_arena_take(arena, 2 * strlen(name) + 3, 1), *to = text;
    *to++ = '\'';
    for (; *name; name++) {
        if (*name == '\'' || *name == '\\') *to++ = '\\';
        *to++ = *name;
    }
    *to++ = '\'';
    return text;
}

static const char *name_of(uint32_t variable, void *user)
{
    const writer *w = user;
    return variable < w->m->variables ? w->name[variable] : "?";
}

/* ------------------------------------------------------------------ expressions ------ */

static void put_styled(writer *w, ex_id e, bool side, bool inside)
{
    const ex_style style = {
        .name = name_of, .user = w, .limit = MOST, .exact = true, .side = side, .inside = inside
    };
    put(w, e ? ex_print_as(w->m->graph, e, &style) : "0");
}

static void put_expression(writer *w, ex_id e)
{
    put_styled(w, e, false, false);
}

static void put_quoted(writer *w, const char *s)
{
    put(w, ex_print(w->m->graph, ex_text(w->m->graph, s), NULL, NULL, MOST));
}

static void put_number(writer *w, double value)
{
    char text[DAE_NUMBER_TEXT];
    dae_number_text(text, value);
    put(w, text);
}

static void put_message(writer *w, ex_id message)
{
    if (message)
        put_expression(w, message);
    else
        put(w, "\"\"");
}

/* ------------------------------------------------------------------ variables -------- */

static void attribute(writer *w, bool *open, const char *name, ex_id e, const char *text)
{
    if (!e && !text) return;
    put(w, *open ? ", " : "(");
    *open = true;
    put(w, name);
    put(w, " = ");
    if (text)
        put_quoted(w, text);
    else
        put_expression(w, e);
}

static void put_attributes(writer *w, const flat_variable *v)
{
    static const char *const select[] = { "", "StateSelect.never",  "StateSelect.avoid",
                                          "", "StateSelect.prefer", "StateSelect.always" };
    bool open = false;
    attribute(w, &open, "quantity", 0, v->quantity);
    attribute(w, &open, "unit", 0, v->unit);
    attribute(w, &open, "displayUnit", 0, v->display_unit);
    attribute(w, &open, "min", v->min, NULL);
    attribute(w, &open, "max", v->max, NULL);
    attribute(w, &open, "start", v->start, NULL);
    if (v->fixed >= 0) {
        put(w, open ? ", " : "(");
        open = true;
        put(w, v->fixed ? "fixed = true" : "fixed = false");
    }
    attribute(w, &open, "nominal", v->nominal, NULL);
    if (v->state_select != FLAT_DEFAULT && v->state_select) {
        put(w, open ? ", stateSelect = " : "(stateSelect = ");
        open = true;
        put(w, select[v->state_select]);
    }
    put(w, open ? ")" : "");
}

static void put_variable(writer *w, const flat_variable *v)
{
    static const char *const variability[] = { "constant ", "parameter ", "discrete ", "" };
    static const char *const type[] = { "Real", "Integer", "Boolean", "String", "" };
    put(w, "  ");
    put(w,
        v->variability == FLAT_DISCRETE && v->type != EX_REAL ? "" : variability[v->variability]);
    put(w, v->input ? "input " : v->output ? "output " : "");
    put(w, v->type == EX_ENUMERATION ? flat_quoted(w->m->graph->arena, v->enumeration)
                                     : type[v->type]);
    put(w, " ");
    put(w, flat_quoted(w->m->graph->arena, v->name));
    put_attributes(w, v);
    if (v->binding) {
        put(w, " = ");
        put_expression(w, v->binding);
    }
    if (v->comment) {
        put(w, " ");
        put_quoted(w, v->comment);
    }
    put(w, ";\n");
}

static void put_variables(writer *w)
{
    bool hidden = false;
    for (size_t i = 0; i < w->m->variables; i++) {
        const flat_variable *v = &w->m->variable[i];
        if (v->hidden && v->variability == FLAT_CONSTANT)
            continue; /* left out: of a bus, and nobody uses it */
        if (v->is_protected != hidden) put(w, v->is_protected ? "protected\n" : "public\n");
        hidden = v->is_protected;
        put_variable(w, v);
    }
}

/* Every enumeration that a variable has, once. */
static void put_enumerations(writer *w)
{
    const flat_model *m = w->m;
    const char **seen = dae_arena_take(m->graph->arena, m->variables + 1, sizeof *seen);
    size_t count = 0;
    for (size_t i = 0; i < m->variables; i++) {
        const flat_variable *v = &m->variable[i];
        bool known = v->type != EX_ENUMERATION || strcmp(v->enumeration, "StateSelect") == 0 ||
                     strcmp(v->enumeration, "AssertionLevel") == 0;
        for (size_t k = 0; !known && k < count; k++) known = strcmp(seen[k], v->enumeration) == 0;
        if (known) continue;
        seen[count++] = v->enumeration;
        put(w, "type ");
        put(w, flat_quoted(w->m->graph->arena, v->enumeration));
        put(w, " = enumeration(");
        for (int k = 0; k < v->literals; k++) {
            put(w, k ? ", " : "");
            put(w, v->literal[k]);
        }
        put(w, ");\n");
    }
}

/* ------------------------------------------------------------------ functions -------- */

static void put_slot(writer *w, const ex_statement *s)
{
    put(w, "s[");
    put_number(w, s->first + 1);
    if (s->index) {
        put(w, " + ");
        put_styled(w, s->index, true, true);
    }
    put(w, "]");
}

/* Slots hold numbers; truth values are 0 and 1. */
static void put_value(writer *w, ex_id value)
{
    bool truth = ex_at(w->m->graph, value)->type == EX_BOOLEAN;
    put(w, truth ? "if " : "");
    put_styled(w, value, false, true);
    put(w, truth ? " then 1 else 0" : "");
}

static void put_block(writer *w, const ex_block *b, const char *margin);

static void put_statement(writer *w, const ex_statement *s, const char *margin)
{
    const char *deeper = dae_arena_print(w->m->graph->arena, "%s  ", margin);
    put(w, margin);
    switch (s->kind) {
    case EX_ASSIGN:
        put_slot(w, s);
        put(w, " := ");
        put_value(w, s->value);
        break;
    case EX_SPLIT:
    case EX_WHILE:
        put(w, s->kind == EX_SPLIT ? "if " : "while ");
        put_styled(w, s->condition, false, true);
        put(w, s->kind == EX_SPLIT ? " then\n" : " loop\n");
        put_block(w, &s->block, deeper);
        if (s->other.statements) {
            put(w, margin);
            put(w, "else\n");
            put_block(w, &s->other, deeper);
        }
        put(w, margin);
        put(w, s->kind == EX_SPLIT ? "end if" : "end while");
        break;
    case EX_BREAK: put(w, "break"); break;
    case EX_RETURN: put(w, "return"); break;
    case EX_ASSERT:
        put(w, "assert(");
        put_styled(w, s->condition, false, true);
        put(w, ", ");
        put_message(w, s->message);
        put(w, ")");
        break;
    case EX_INVOKE: break; /* only derivatives of procedures have them */
    }
    put(w, ";\n");
}

static void put_block(writer *w, const ex_block *b, const char *margin)
{
    for (size_t i = 0; i < b->statements; i++) put_statement(w, &b->statement[i], margin);
}

static void put_function(writer *w, uint32_t number)
{
    const ex_procedure *p = w->m->graph->procedure[number];
    const char *name = ex_procedure_name(w->m->graph, number);
    put(w, "function ");
    put(w, name);
    put(w, "\n  input Real u[");
    put_number(w, p->inputs);
    put(w, "];\n  output Real s[");
    put_number(w, p->slots);
    put(w, "];\nalgorithm\n");
    for (uint32_t i = 1; i <= p->inputs; i++) {
        put(w, "  s[");
        put_number(w, i);
        put(w, "] := u[");
        put_number(w, i);
        put(w, "];\n");
    }
    put_block(w, &p->body, "  ");
    put(w, "end ");
    put(w, name);
    put(w, ";\n");
}

static void put_functions(writer *w)
{
    const ex_graph *g = w->m->graph;
    bool any = false;
    for (uint32_t i = 0; i < g->procedures; i++) any |= !g->procedure[i]->declares;
    if (any)
        put(w, "function " EX_INTEGER_FUNCTION "\n  input Real x;\n  output Integer y;\nalgorithm\n"
               "  y := integer(x);\nend " EX_INTEGER_FUNCTION ";\n"
               "function " EX_TRUTH_FUNCTION "\n  input Real x;\n  output Boolean y;\nalgorithm\n"
               "  y := x > 0.5;\nend " EX_TRUTH_FUNCTION ";\n");
    for (uint32_t i = 0; i < g->procedures; i++)
        if (!g->procedure[i]->declares) put_function(w, i);
}

/* ------------------------------------------------------------------ equations -------- */

static void put_equations(writer *w, const flat_equation *e, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(w, "  ");
        put_styled(w, e[i].left, true, false);
        put(w, " = ");
        put_expression(w, e[i].right);
        put(w, ";\n");
    }
}

static void put_action(writer *w, const flat_action *a)
{
    bool guarded = a->kind == FLAT_TERMINATE && a->value;
    put(w, "    ");
    if (guarded) {
        put(w, "if ");
        put_expression(w, a->value);
        put(w, " then\n      ");
    }
    switch (a->kind) {
    case FLAT_SET:
        put_expression(w, a->target);
        put(w, " = ");
        put_expression(w, a->value);
        break;
    case FLAT_REINIT:
        put(w, "reinit(");
        put_expression(w, a->target);
        put(w, ", ");
        put_expression(w, a->value);
        put(w, ")");
        break;
    case FLAT_CHECK:
        put(w, "assert(");
        put_expression(w, a->value);
        put(w, ", ");
        put_message(w, a->message);
        put(w, ")");
        break;
    case FLAT_TERMINATE:
        put(w, "terminate(");
        put_message(w, a->message);
        put(w, ")");
        break;
    }
    put(w, guarded ? ";\n    end if;\n" : ";\n");
}

static void put_when(writer *w, const flat_when *first)
{
    for (const flat_when *p = first; p; p = p->otherwise) {
        put(w, p == first ? "  when " : "  elsewhen ");
        put_expression(w, p->condition);
        put(w, " then\n");
        for (size_t i = 0; i < p->actions; i++) put_action(w, &p->action[i]);
    }
    put(w, "  end when;\n");
}

static void put_end(writer *w, const flat_assertion *a)
{
    put(w, "  if ");
    put_expression(w, ex_unary(w->m->graph, EX_NOT, a->condition));
    put(w, " then\n    terminate(");
    put_message(w, a->message);
    put(w, ");\n  end if;\n");
}

static size_t put_assertions(writer *w, bool initial, bool count_only)
{
    size_t count = 0;
    for (size_t i = 0; i < w->m->assertions; i++) {
        const flat_assertion *a = &w->m->assertion[i];
        if (a->initial != initial) continue;
        count++;
        if (count_only) continue;
        if (a->ends) {
            put_end(w, a);
            continue;
        }
        put(w, "  assert(");
        put_expression(w, a->condition);
        put(w, ", ");
        put_message(w, a->message);
        put(w, a->warning ? ", AssertionLevel.warning);\n" : ");\n");
    }
    return count;
}

static void put_experiment(writer *w, const flat_experiment *x)
{
    const struct {
        const char *name;
        double value;
    } part[] = { { "StartTime", x->start },
                 { "StopTime", x->stop },
                 { "Tolerance", x->tolerance },
                 { "Interval", x->interval } };
    bool open = false;
    for (size_t i = 0; i < 4; i++) {
        if (isnan(part[i].value)) continue;
        put(w, open ? ", " : "  annotation(experiment(");
        open = true;
        put(w, part[i].name);
        put(w, " = ");
        put_number(w, part[i].value);
    }
    put(w, open ? "));\n" : "");
}

const char *flat_text(flat_model *m)
{
    writer w = { .m = m };
    w.name = dae_arena_take(m->graph->arena, m->variables + 1, sizeof *w.name);
    for (size_t i = 0; i < m->variables; i++)
        w.name[i] = flat_quoted(m->graph->arena, m->variable[i].name);
    put_enumerations(&w);
    put_functions(&w);
    put(&w, "model ");
    put(&w, flat_quoted(m->graph->arena, m->name));
    if (m->comment) {
        put(&w, " ");
        put_quoted(&w, m->comment);
    }
    put(&w, "\n");
    put_variables(&w);
    if (m->initials || put_assertions(&w, true, true)) put(&w, "initial equation\n");
    put_equations(&w, m->initial, m->initials);
    put_assertions(&w, true, false);
    if (m->equations || m->whens || put_assertions(&w, false, true)) put(&w, "equation\n");
    put_equations(&w, m->equation, m->equations);
    for (size_t i = 0; i < m->whens; i++) put_when(&w, m->when[i]);
    put_assertions(&w, false, false);
    put_experiment(&w, &m->experiment);
    put(&w, "end ");
    put(&w, flat_quoted(m->graph->arena, m->name));
    put(&w, ";\n");
    return w.text;
}
