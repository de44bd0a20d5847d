/* flat.c: variables and equations added; the model printed as flat Modelica. */
#include "model/flat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

uint32_t flat_add_variable(flat_model *m, const flat_variable *v)
{
    m->variable = dae_arena_grow(m->graph->arena, m->variable, m->variables, &m->variable_capacity,
                                 sizeof *m->variable);
    m->variable[m->variables] = *v;
    return (uint32_t)m->variables++;
}

void flat_add_equation(flat_model *m, ex_id left, ex_id right, dae_place place,
                       const char *component)
{
    m->equation = dae_arena_grow(m->graph->arena, m->equation, m->equations, &m->equation_capacity,
                                 sizeof *m->equation);
    m->equation[m->equations++] = (flat_equation){ .left = left, .right = right, .place = place,
                                                   .component = component };
}

const char *flat_name(uint32_t variable, void *model)
{
    const flat_model *m = model;
    return variable < m->variables ? m->variable[variable].name : "?";
}

/* ------------------------------------------------------------------ text ------------- */

typedef struct writer {
    flat_model *m;
    char *text;
    size_t length, capacity;
} writer;

static void put(writer *w, const char *s)
{
    size_t n = strlen(s);
    if (w->length + n + 1 > w->capacity) {
        size_t capacity = 2 * (w->length + n + 1) + 1024;
        char *more = dae_arena_take(w->m->graph->arena, capacity, 1);
        if (w->length)
            memcpy(more, w->text, w->length);
        w->text = more;
        w->capacity = capacity;
    }
    memcpy(w->text + w->length, s, n);
    w->length += n;
    w->text[w->length] = 0;
}

static void put_expression(writer *w, ex_id e)
{
    put(w, e ? ex_print(w->m->graph, e, flat_name, w->m, 0) : "0");
}

static void put_quoted(writer *w, const char *s)
{
    put(w, "\"");
    char one[3] = { 0 };
    for (; *s; s++) {
        one[0] = *s == '"' || *s == '\\' ? '\\' : *s;
        one[1] = *s == '"' || *s == '\\' ? *s : 0;
        put(w, *s == '\n' ? "\\n" : one);
    }
    put(w, "\"");
}

static void attribute(writer *w, bool *open, const char *name, ex_id e, const char *text)
{
    if (!e && !text)
        return;
    put(w, *open ? ", " : "(");
    *open = true;
    put(w, name);
    put(w, " = ");
    if (text)
        put_quoted(w, text);
    else
        put_expression(w, e);
}

static void put_variable(writer *w, const flat_variable *v)
{
    static const char *const variability[] = { "constant ", "parameter ", "discrete ", "" };
    static const char *const type[] = { "Real", "Integer", "Boolean", "String", "" };
    static const char *const select[] = { "", "StateSelect.never", "StateSelect.avoid", "",
                                          "StateSelect.prefer", "StateSelect.always" };
    put(w, "  ");
    put(w, v->is_protected ? "protected " : "");
    put(w, v->variability == FLAT_DISCRETE && v->type != EX_REAL ? "" : variability[v->variability]);
    put(w, v->input ? "input " : v->output ? "output " : "");
    if (v->type == EX_ENUMERATION) {
        put(w, "enumeration(");
        for (int i = 0; i < v->literals; i++) {
            put(w, i ? ", " : "");
            put(w, v->literal[i]);
        }
        put(w, ")");
    } else
        put(w, type[v->type]);
    put(w, " ");
    put(w, v->name);
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

static void put_equations(writer *w, const char *title, const flat_equation *e, size_t count)
{
    if (count)
        put(w, title);
    for (size_t i = 0; i < count; i++) {
        put(w, "  ");
        put_expression(w, e[i].left);
        put(w, " = ");
        put_expression(w, e[i].right);
        put(w, ";\n");
    }
}

static void put_action(writer *w, const flat_action *a)
{
    put(w, "    ");
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
        if (a->message)
            put_expression(w, a->message);
        else
            put(w, "\"\"");
        put(w, ")");
        break;
    case FLAT_TERMINATE:
        put(w, "terminate(");
        if (a->message)
            put_expression(w, a->message);
        else
            put(w, "\"\"");
        put(w, ")");
        break;
    }
    put(w, ";\n");
}

static void put_when(writer *w, const flat_when *first)
{
    for (const flat_when *p = first; p; p = p->otherwise) {
        put(w, p == first ? "  when " : "  elsewhen ");
        put_expression(w, p->condition);
        put(w, " then\n");
        for (size_t i = 0; i < p->actions; i++)
            put_action(w, &p->action[i]);
    }
    put(w, "  end when;\n");
}

const char *flat_text(flat_model *m)
{
    writer w = { .m = m };
    put(&w, "model ");
    put(&w, m->name);
    if (m->comment) {
        put(&w, " ");
        put_quoted(&w, m->comment);
    }
    put(&w, "\n");
    for (size_t i = 0; i < m->variables; i++)
        put_variable(&w, &m->variable[i]);
    put_equations(&w, "initial equation\n", m->initial, m->initials);
    put_equations(&w, "equation\n", m->equation, m->equations);
    if (!m->equations && (m->whens || m->assertions))
        put(&w, "equation\n");
    for (size_t i = 0; i < m->whens; i++)
        put_when(&w, m->when[i]);
    for (size_t i = 0; i < m->assertions; i++) {
        put(&w, "  assert(");
        put_expression(&w, m->assertion[i].condition);
        put(&w, ", ");
        if (m->assertion[i].message)
            put_expression(&w, m->assertion[i].message);
        else
            put(&w, "\"\"");
        put(&w, m->assertion[i].warning ? ", AssertionLevel.warning);\n" : ");\n");
    }
    put(&w, "end ");
    put(&w, m->name);
    put(&w, ";\n");
    return w.text;
}
