/* print.c: an expression as Modelica text.
 *
 * Parentheses only where the grammar needs them. A sign stands at the level of a sum, in front of
 * its first term: -a*b is -(a*b), and (-a)*b, a - (-b) keep theirs. A power has a primary on
 * either side. Written from a stack of things still to print, so depth costs no recursion; a
 * graph whose text would be exponentially long ends at the limit.
 *
 * Exact text (ex_print_as) is to be read again. What the language does to relations outside of
 * noEvent, it does not do here without saying so; truth values in slots of procedures are 0 and 1.
 */
#include "base/number.h"
#include "expression/graph.h"

#include <string.h>

enum { ANY = 0, RELATION = 4, SUM = 5, PRODUCT = 6, POWER = 7, PRIMARY = 8 };

/* An expression to be printed where at least this precedence is needed, or else a word. */
typedef struct task {
    ex_id e;
    int precedence;
    const char *word;
    bool fenced; /* inside of noEvent, or of a procedure */
} task;

typedef struct printer {
    ex_graph *g;
    ex_style style;
    bool fenced; /* what is printed now */
    task *stack;
    size_t height, stack_capacity;
    char *text;
    size_t length, capacity, limit;
} printer;

static void say(printer *p, const char *word)
{
    for (; *word && p->length <= p->limit; word++) {
        p->text = dae_arena_grow(p->g->arena, p->text, p->length, &p->capacity, 1);
        p->text[p->length++] = *word;
    }
}

static void later(printer *p, ex_id e, int precedence)
{
    while (ex_at(p->g, e)->op == EX_DECLARED) e = ex_at(p->g, e)->a;
    p->stack = dae_arena_grow(p->g->arena, p->stack, p->height, &p->stack_capacity, sizeof(task));
    p->stack[p->height++] = (task){ e, precedence, NULL, p->fenced };
}

static void later_word(printer *p, const char *word)
{
    later(p, 0, 0);
    p->stack[p->height - 1].word = word;
}

/* ---------------------------------------------------------------- leaves ---------------- */

static void say_number(printer *p, const ex_node *n)
{
    char text[DAE_NUMBER_TEXT];
    double value = p->g->number[n->a];
    if (n->type == EX_BOOLEAN) {
        say(p, value != 0 ? "true" : "false");
        return;
    }
    if (p->style.exact && n->b) {
        say(p, p->g->text[n->b - 1]);
        return;
    }
    dae_number_text(text, value);
    say(p, text);
}

static void say_text(printer *p, const char *text)
{
    static const char plain[] = "\a\b\f\n\r\t\v\"\\", letter[] = "abfnrtv\"\\";
    say(p, "\"");
    for (; *text; text++) {
        const char *special = strchr(plain, *text);
        char word[3] = { *text, 0, 0 };
        if (special) {
            word[0] = '\\';
            word[1] = letter[special - plain];
        }
        say(p, word);
    }
    say(p, "\"");
}

static void say_variable(printer *p, uint32_t variable, uint32_t derivatives)
{
    for (uint32_t k = 0; k < derivatives; k++) say(p, "der(");
    say(p, p->style.name ? p->style.name(variable, p->style.user)
                         : dae_arena_print(p->g->arena, "v%lu", (unsigned long)variable));
    for (uint32_t k = 0; k < derivatives; k++) say(p, ")");
}

/* Of an element the name of the array: x, not x[1]. */
static void say_slot(printer *p, uint32_t slot, bool array)
{
    char text[DAE_NUMBER_TEXT];
    const ex_procedure *f = p->style.procedure;
    const char *name = f && slot < f->slot_names ? f->slot_name[slot] : NULL;
    if (name) {
        size_t length = array ? strcspn(name, "[") : strlen(name);
        say(p, dae_arena_copy(p->g->arena, name, length));
        return;
    }
    dae_number_text(text, slot);
    say(p, "local");
    say(p, text);
}

/* ---------------------------------------------------------------- operations ------------ */

/* A negative number, or a product that begins with one, reads as a sign in front of a term. */
static int precedence_of(const ex_graph *g, ex_id e)
{
    const ex_node *n = ex_at(g, e);
    if (n->op == EX_NUMBER) return n->type != EX_BOOLEAN && g->number[n->a] < 0 ? SUM : PRIMARY;
    if (n->op == EX_MULTIPLY || n->op == EX_DIVIDE)
        return ex_is_number(g, n->a, NULL) && precedence_of(g, n->a) == SUM ? SUM : PRODUCT;
    if (n->op == EX_IF) return ANY;
    return ex_ops[n->op].precedence ? ex_ops[n->op].precedence : PRIMARY;
}

/* Pushed in reverse: the right operand, the operator, the left operand. */
static void print_infix(printer *p, const ex_node *n)
{
    int own = ex_ops[n->op].precedence, left = own, right = own + 1;
    bool tight = own >= PRODUCT;
    if (own == POWER) left = PRIMARY;
    if (own == RELATION) left = SUM;
    if (own == PRODUCT && ex_is_number(p->g, n->a, NULL)) left = SUM; /* -2*x */
    later(p, n->b, right);
    if (!tight) later_word(p, " ");
    later_word(p, ex_ops[n->op].name);
    if (!tight) later_word(p, " ");
    later(p, n->a, left);
}

static void print_call(printer *p, ex_id e, const char *name)
{
    size_t count = ex_operand_count(p->g, e);
    if (ex_at(p->g, e)->op == EX_DELAY && !ex_operand(p->g, e, 2)) count = 2;
    if (ex_at(p->g, e)->op == EX_TEXT_OF) { /* its format by name */
        later_word(p, ")");
        later(p, ex_at(p->g, e)->b, ANY);
        later_word(p, ", format = ");
        later(p, ex_at(p->g, e)->a, ANY);
        later_word(p, "String(");
        return;
    }
    later_word(p, ")");
    for (size_t k = count; k-- > 0;) {
        later(p, ex_operand(p->g, e, k), ANY);
        later_word(p, k ? ", " : "(");
    }
    if (count == 0) later_word(p, "(");
    later_word(p, name);
}

static void print_if(printer *p, const ex_node *n)
{
    if (ex_at(p->g, n->c)->op == EX_IF) { /* printed as: else + if ... */
        later(p, n->c, ANY);
        later_word(p, " else");
    } else {
        later(p, n->c, ANY);
        later_word(p, " else ");
    }
    later(p, n->b, ANY);
    later_word(p, " then ");
    later(p, n->a, ANY);
    later_word(p, "if ");
}

/* ---------------------------------------------------------------- procedures ------------ */

const char *ex_procedure_name(ex_graph *g, uint32_t procedure)
{
    const char *name = g->procedure[procedure]->name;
    char *quoted = dae_arena_take(g->arena, 2 * strlen(name) + 40, 1), *to = quoted;
    *to++ = '\'';
    for (; *name; name++) {
        if (*name == '\'' || *name == '\\') *to++ = '\\';
        *to++ = *name;
    }
    char number[DAE_NUMBER_TEXT];
    dae_number_text(number, procedure + 1);
    *to++ = '.';
    strcpy(to, number);
    strcat(to, "'");
    return quoted;
}

/* A number out of a slot, read as what it is. Pushed in reverse around what reads the slot. */
static const char *before_slot(ex_type type)
{
    return type == EX_INTEGER ? "integer(" : type == EX_BOOLEAN ? "(" : "";
}

static const char *after_slot(ex_type type)
{
    return type == EX_INTEGER ? ")" : type == EX_BOOLEAN ? " > 0.5)" : "";
}

static void exact_slot(printer *p, const ex_node *n)
{
    char text[DAE_NUMBER_TEXT];
    dae_number_text(text, n->a + 1);
    later_word(p, after_slot(n->type));
    later_word(p, "]");
    if (n->op == EX_ELEMENT) {
        later(p, n->c, PRODUCT);
        later_word(p, " + ");
    }
    later_word(p, dae_arena_print(p->g->arena, "%ss[%s", before_slot(n->type), text));
}

/* A value where a number is needed. */
static void as_number(printer *p, ex_id e)
{
    ex_type type = ex_at(p->g, e)->type;
    bool truth = type == EX_BOOLEAN;
    later_word(p, truth ? " then 1 else 0" : type == EX_ENUMERATION ? ")" : "");
    later(p, e, ANY);
    later_word(p, truth ? "if " : type == EX_ENUMERATION ? "Integer(" : "");
}

/* ('f'({a, b}))[3]; a truth value or an Integer is made of it by functions, which know no events,
 * so that relations among the arguments may be some. */
static void exact_result(printer *p, const ex_node *n)
{
    const ex_node call = *ex_at(p->g, n->a);
    const ex_procedure *procedure = p->g->procedure[call.a];
    char text[DAE_NUMBER_TEXT];
    const char *of = n->type == EX_INTEGER   ? EX_INTEGER_FUNCTION "("
                     : n->type == EX_BOOLEAN ? EX_TRUTH_FUNCTION "("
                                             : "";
    dae_number_text(text, procedure->output[n->b] + 1);
    later_word(p, of[0] ? ")" : "");
    later_word(p, dae_arena_print(p->g->arena, "%s))[%s]", call.c ? "}" : "", text));
    for (uint32_t k = call.c; k-- > 0;) {
        as_number(p, p->g->argument[call.b + k]);
        if (k) later_word(p, ", ");
    }
    later_word(p, dae_arena_print(p->g->arena, "%s(%s(%s", of, ex_procedure_name(p->g, call.a),
                                  call.c ? "{" : "fill(0.0, 0)"));
}

static void print_result(printer *p, const ex_node *n)
{
    if (p->style.exact) {
        exact_result(p, n);
        return;
    }
    const ex_procedure *procedure = p->g->procedure[ex_at(p->g, n->a)->a];
    if (procedure->outputs > 1)
        later_word(p, dae_arena_print(p->g->arena, "[%lu]", (unsigned long)n->b + 1));
    later(p, n->a, PRIMARY);
}

static void print_node(printer *p, ex_id e)
{
    const ex_node n = *ex_at(p->g, e);
    if (p->style.exact && (n.op == EX_LOCAL || n.op == EX_ELEMENT)) {
        exact_slot(p, &n);
        return;
    }
    p->fenced |= n.op == EX_NO_EVENT;
    switch (n.op) {
    case EX_NUMBER: say_number(p, &n); break;
    case EX_TEXT: say_text(p, p->g->text[n.a]); break;
    case EX_TIME: say(p, "time"); break;
    case EX_VARIABLE: say_variable(p, n.a, n.b); break;
    case EX_PRE:
        say(p, "pre(");
        say_variable(p, n.a, 0);
        say(p, ")");
        break;
    case EX_INITIAL: say(p, "initial()"); break;
    case EX_TERMINAL: say(p, "terminal()"); break;
    case EX_LOCAL: say_slot(p, n.a, false); break;
    case EX_ELEMENT:
        say_slot(p, n.a, true);
        later_word(p, "]");
        later(p, n.c, SUM);
        later_word(p, "[1 + ");
        break;
    case EX_NEGATE:
        later(p, n.a, PRODUCT);
        later_word(p, "-");
        break;
    case EX_NOT:
        later(p, n.a, RELATION);
        later_word(p, "not ");
        break;
    case EX_IF: print_if(p, &n); break;
    case EX_CALL: print_call(p, e, p->g->procedure[n.a]->name); break;
    case EX_RESULT: print_result(p, &n); break;
    default:
        if (ex_ops[n.op].precedence)
            print_infix(p, &n);
        else
            print_call(p, e, ex_ops[n.op].name);
    }
}

/* Read again it would be an event, and is none. */
static bool needs_fence(const printer *p, ex_id e)
{
    const ex_node *n = ex_at(p->g, e);
    bool jumps = n->op == EX_LESS || n->op == EX_LESS_EQUAL || n->op == EX_FLOOR ||
                 n->op == EX_CEIL || n->op == EX_INTEGER_OF || n->op == EX_DIV || n->op == EX_MOD ||
                 n->op == EX_REM;
    if (!p->style.exact || p->fenced || !jumps || (n->flags & EX_EVENT)) return false;
    if (n->op != EX_LESS && n->op != EX_LESS_EQUAL && ex_is_whole(p->g, n->a) &&
        (ex_ops[n->op].operands == 1 || ex_is_whole(p->g, n->b)))
        return false; /* nobody takes it for an event */
    return ex_at(p->g, n->a)->type == EX_REAL ||
           (ex_ops[n->op].operands > 1 && ex_at(p->g, n->b)->type == EX_REAL);
}

static void print_task(printer *p, const task *t)
{
    p->fenced = t->fenced;
    if (t->word) {
        say(p, t->word);
    } else if (t->e && needs_fence(p, t->e)) {
        say(p, "noEvent(");
        later_word(p, ")");
        p->fenced = true;
        print_node(p, t->e);
    } else if (t->e && precedence_of(p->g, t->e) < t->precedence) {
        say(p, "(");
        later_word(p, ")");
        print_node(p, t->e);
    } else if (t->e) {
        print_node(p, t->e);
    }
}

const char *ex_print_as(ex_graph *g, ex_id e, const ex_style *style)
{
    printer p = { .g = g,
                  .style = *style,
                  .fenced = style->inside,
                  .limit = style->limit ? style->limit : 100000 };
    later(&p, e, style->side ? SUM : ANY);
    while (p.height && p.length <= p.limit) {
        task t = p.stack[--p.height];
        print_task(&p, &t);
    }
    if (p.length > p.limit) {
        size_t keep = p.limit > 3 ? p.limit - 3 : 0;
        while (keep && (p.text[keep] & 0xC0) == 0x80) /* not inside a character of UTF-8 */
            keep--;
        return dae_arena_print(g->arena, "%.*s...", (int)keep, p.text);
    }
    say(&p, ""); /* an empty text is one, too */
    return dae_arena_copy(g->arena, p.text, p.length);
}

const char *ex_print(ex_graph *g, ex_id e, const char *(*name)(uint32_t variable, void *user),
                     void *user, size_t limit)
{
    return ex_print_as(g, e, &(ex_style){ .name = name, .user = user, .limit = limit });
}
