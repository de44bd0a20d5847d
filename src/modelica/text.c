/* text.c: expressions as Modelica text, with as few parentheses as the grammar allows.
 *
 * Every kind of node stands on a step of the grammar; an operand on a lower step than the rule
 * asks for gets parentheses.
 */
#include "modelica/text.h"
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum step {
    EXPRESSION,
    SIMPLE,
    LOGICAL,
    LOGICAL_TERM,
    LOGICAL_FACTOR,
    RELATION,
    ARITHMETIC,
    TERM,
    FACTOR,
    PRIMARY
} step;

static step step_of(const mo_ast *e)
{
    switch (e->kind) {
    case MO_A_IF: return EXPRESSION;
    case MO_A_RANGE: return SIMPLE;
    case MO_A_OR: return LOGICAL;
    case MO_A_AND: return LOGICAL_TERM;
    case MO_A_NOT: return LOGICAL_FACTOR;
    case MO_A_RELATION: return RELATION;
    case MO_A_SUM: return ARITHMETIC;
    case MO_A_PRODUCT: return TERM;
    case MO_A_POWER: return FACTOR;
    case MO_A_REAL: return signbit(e->number) ? ARITHMETIC : PRIMARY;
    case MO_A_INTEGER: return e->integer < 0 ? ARITHMETIC : PRIMARY;
    default: return PRIMARY;
    }
}

static const char *const operators[] = {
    [MO_PLUS] = " + ", [MO_MINUS] = " - ",      [MO_DOT_PLUS] = " .+ ",  [MO_DOT_MINUS] = " .- ",
    [MO_TIMES] = "*",  [MO_OVER] = "/",         [MO_DOT_TIMES] = " .* ", [MO_DOT_OVER] = " ./ ",
    [MO_POWER] = "^",  [MO_DOT_POWER] = " .^ ", [MO_LT] = " < ",         [MO_LE] = " <= ",
    [MO_GT] = " > ",   [MO_GE] = " >= ",        [MO_EQ] = " == ",        [MO_NE] = " <> ",
};

static void put_operand(mo_writer *w, const mo_ast *e, step least)
{
    bool parentheses = e && step_of(e) < least;
    mo_put(w, parentheses ? "(" : "");
    mo_put_expression(w, e);
    mo_put(w, parentheses ? ")" : "");
}

/* ---------------------------------------------------------------- literals -------------- */

/* With a point or an exponent, so that it stays a Real. */
static void put_real(mo_writer *w, double x)
{
    char text[DAE_NUMBER_TEXT];
    dae_number_text(text, x);
    mo_put(w, text);
    mo_put(w, strpbrk(text, ".en") ? "" : ".0");
}

void mo_put_string(mo_writer *w, const char *text)
{
    static const char plain[] = "\a\b\f\n\r\t\v\"\\", letter[] = "abfnrtv\"\\";
    mo_put(w, "\"");
    for (; *text; text++) {
        const char *special = strchr(plain, *text);
        char escape[3] = { '\\', special ? letter[special - plain] : '\0', '\0' };
        if (special)
            mo_put(w, escape);
        else
            mo_put_bytes(w, text, 1);
    }
    mo_put(w, "\"");
}

/* ---------------------------------------------------------------- lists ----------------- */

static void put_list(mo_writer *w, mo_ast *const *item, int count)
{
    for (int i = 0; i < count; i++) {
        mo_put(w, i ? ", " : "");
        mo_put_expression(w, item[i]);
    }
}

/* Operands between words, each at least on a step. */
static void put_chain(mo_writer *w, const mo_ast *e, const char *word, step least)
{
    for (int i = 0; i < e->count; i++) {
        mo_put(w, i ? word : "");
        put_operand(w, e->item[i], least);
    }
}

static void put_terms(mo_writer *w, const mo_ast *e)
{
    for (int i = 0; i < e->count; i++) {
        if (i)
            mo_put(w, operators[e->op[i]]);
        else if (e->kind == MO_A_SUM && (e->op[0] == MO_MINUS || e->op[0] == MO_DOT_MINUS))
            mo_put(w, "-");
        put_operand(w, e->item[i], e->kind == MO_A_SUM ? TERM : FACTOR);
    }
}

void mo_put_reference(mo_writer *w, const mo_reference *r)
{
    for (int i = 0; i < r->parts; i++) {
        const mo_part *part = &r->part[i];
        mo_put(w, i || r->global ? "." : "");
        mo_put(w, part->name);
        if (part->subscripts) {
            mo_put(w, "[");
            put_list(w, part->subscript, part->subscripts);
            mo_put(w, "]");
        }
    }
}

void mo_put_iterators(mo_writer *w, const mo_iterator *it, int count)
{
    for (int i = 0; i < count; i++) {
        mo_put(w, i ? ", " : " ");
        mo_put(w, it[i].name);
        if (it[i].range) {
            mo_put(w, " in ");
            mo_put_expression(w, it[i].range);
        }
    }
}

static void put_for(mo_writer *w, const mo_ast *e)
{
    mo_put(w, e->call.iterators ? " for" : "");
    mo_put_iterators(w, e->call.iterator, e->call.iterators);
}

static void put_call(mo_writer *w, const mo_ast *e)
{
    mo_put(w, e->kind == MO_A_PARTIAL ? "function " : "");
    mo_put_reference(w, e->call.reference);
    mo_put(w, "(");
    for (int i = 0; i < e->count; i++) {
        mo_put(w, i ? ", " : "");
        if (e->call.label && e->call.label[i]) {
            mo_put(w, e->call.label[i]);
            mo_put(w, " = ");
        }
        mo_put_expression(w, e->item[i]);
    }
    put_for(w, e);
    mo_put(w, ")");
}

static void put_if(mo_writer *w, const mo_ast *e)
{
    for (int i = 0; i + 1 < e->count; i += 2) {
        mo_put(w, i ? " elseif " : "if ");
        mo_put_expression(w, e->item[i]);
        mo_put(w, " then ");
        mo_put_expression(w, e->item[i + 1]);
    }
    mo_put(w, " else ");
    put_operand(w, e->item[e->count - 1], SIMPLE); /* "else if" would be read as "elseif" */
}

static void put_matrix(mo_writer *w, const mo_ast *e)
{
    mo_put(w, "[");
    for (int i = 0; i < e->count; i++) {
        mo_put(w, i ? "; " : "");
        put_list(w, e->item[i]->item, e->item[i]->count);
    }
    mo_put(w, "]");
}

/* ---------------------------------------------------------------- any expression -------- */

static void put_brackets(mo_writer *w, const mo_ast *e, const char *open, const char *close)
{
    mo_put(w, open);
    put_list(w, e->item, e->count);
    if (e->kind == MO_A_ARRAY) put_for(w, e);
    mo_put(w, close);
}

static void put_integer(mo_writer *w, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    mo_put(w, text);
}

static void put_postfix(mo_writer *w, const mo_ast *e)
{
    mo_put(w, "(");
    mo_put_expression(w, e->item[0]);
    mo_put(w, e->kind == MO_A_INDEX ? ")[" : ").");
    if (e->kind == MO_A_INDEX) put_list(w, e->item + 1, e->count - 1);
    mo_put(w, e->kind == MO_A_INDEX ? "]" : e->text);
}

void mo_put_expression(mo_writer *w, const mo_ast *e)
{
    if (!e) return; /* left out of a tuple */
    switch (e->kind) {
    case MO_A_REAL: put_real(w, e->number); break;
    case MO_A_INTEGER: put_integer(w, e->integer); break;
    case MO_A_STRING: mo_put_string(w, e->text); break;
    case MO_A_BOOLEAN: mo_put(w, e->integer ? "true" : "false"); break;
    case MO_A_REFERENCE: mo_put_reference(w, e->call.reference); break;
    case MO_A_CALL:
    case MO_A_PARTIAL: put_call(w, e); break;
    case MO_A_SUM:
    case MO_A_PRODUCT: put_terms(w, e); break;
    case MO_A_POWER: put_chain(w, e, operators[e->op[0]], PRIMARY); break;
    case MO_A_RELATION: put_chain(w, e, operators[e->op[0]], ARITHMETIC); break;
    case MO_A_AND: put_chain(w, e, " and ", LOGICAL_FACTOR); break;
    case MO_A_OR: put_chain(w, e, " or ", LOGICAL_TERM); break;
    case MO_A_NOT:
        mo_put(w, "not ");
        put_operand(w, e->item[0], RELATION);
        break;
    case MO_A_IF: put_if(w, e); break;
    case MO_A_RANGE: put_chain(w, e, ":", LOGICAL); break;
    case MO_A_ARRAY: put_brackets(w, e, "{", "}"); break;
    case MO_A_MATRIX: put_matrix(w, e); break;
    case MO_A_ROW: put_list(w, e->item, e->count); break;
    case MO_A_TUPLE: put_brackets(w, e, "(", ")"); break;
    case MO_A_COLON: mo_put(w, ":"); break;
    case MO_A_END: mo_put(w, "end"); break;
    case MO_A_INDEX:
    case MO_A_FIELD: put_postfix(w, e); break;
    }
}

/* simple-expression: an if-expression needs parentheses here. */
void mo_put_left_side(mo_writer *w, const mo_ast *e)
{
    put_operand(w, e, SIMPLE);
}

const char *mo_ast_text(mo_context *c, const mo_ast *e)
{
    mo_writer w = { .c = c };
    mo_put(&w, "");
    mo_put_expression(&w, e);
    return w.text;
}

const char *mo_reference_text(mo_context *c, const mo_reference *r)
{
    mo_writer w = { .c = c };
    mo_put(&w, "");
    mo_put_reference(&w, r);
    return w.text;
}
