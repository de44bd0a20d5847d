/* units.c: do the units of the equations agree? A unit is a product of powers of the seven base
 * units of the SI; prefixes and factors (km, min, degC) do not matter here, only the dimension.
 *
 * Numbers, the time and variables without a unit have any unit, and so has every product with
 * them: x = 5*time is right whatever the 5 means. What is known on both sides of '=', '+', '-',
 * of a comparison or in two branches must agree. Operands have smaller numbers than the node, so
 * one loop over the graph does it.
 */
#include "modelica/instance.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BASES = 7, PARTS = 12 }; /* exponents are counted in twelfths: roots stay exact */

typedef struct dimension {
    short power[BASES]; /* m, kg, s, A, K, mol, cd */
    bool known;
} dimension;

/* ------------------------------------------------------------------ unit strings ----- */

static const struct symbol {
    const char *name;
    signed char power[BASES];
    bool prefix; /* may have one */
} symbols[] = {
    { "m", { 1 }, true },
    { "g", { 0, 1 }, true },
    { "s", { 0, 0, 1 }, true },
    { "A", { 0, 0, 0, 1 }, true },
    { "K", { 0, 0, 0, 0, 1 }, true },
    { "mol", { 0, 0, 0, 0, 0, 1 }, true },
    { "cd", { 0, 0, 0, 0, 0, 0, 1 }, true },
    { "rad", { 0 }, true },
    { "sr", { 0 }, true },
    { "deg", { 0 }, false },
    { "rev", { 0 }, false },
    { "Hz", { 0, 0, -1 }, true },
    { "N", { 1, 1, -2 }, true },
    { "Pa", { -1, 1, -2 }, true },
    { "bar", { -1, 1, -2 }, true },
    { "J", { 2, 1, -2 }, true },
    { "W", { 2, 1, -3 }, true },
    { "eV", { 2, 1, -2 }, true },
    { "cal", { 2, 1, -2 }, true },
    { "Wh", { 2, 1, -2 }, true },
    { "C", { 0, 0, 1, 1 }, true },
    { "V", { 2, 1, -3, -1 }, true },
    { "F", { -2, -1, 4, 2 }, true },
    { "Ohm", { 2, 1, -3, -2 }, true },
    { "S", { -2, -1, 3, 2 }, true },
    { "Wb", { 2, 1, -2, -1 }, true },
    { "T", { 0, 1, -2, -1 }, true },
    { "H", { 2, 1, -2, -2 }, true },
    { "lm", { 0, 0, 0, 0, 0, 0, 1 }, true },
    { "lx", { -2, 0, 0, 0, 0, 0, 1 }, true },
    { "Bq", { 0, 0, -1 }, true },
    { "Gy", { 2, 0, -2 }, true },
    { "Sv", { 2, 0, -2 }, true },
    { "kat", { 0, 0, -1, 0, 0, 1 }, true },
    { "degC", { 0, 0, 0, 0, 1 }, false },
    { "degF", { 0, 0, 0, 0, 1 }, false },
    { "degRk", { 0, 0, 0, 0, 1 }, false },
    { "min", { 0, 0, 1 }, false },
    { "h", { 0, 0, 1 }, false },
    { "d", { 0, 0, 1 }, false },
    { "l", { 3 }, true },
    { "L", { 3 }, true },
    { "t", { 0, 1 }, false },
    { "kn", { 1, 0, -1 }, false },
    { "VA", { 2, 1, -3 }, true },
    { "var", { 2, 1, -3 }, true },
    { "rpm", { 0, 0, -1 }, false },
    { "ha", { 2 }, false },
    { "1", { 0 }, false },
    { "%", { 0 }, false },
};

static const struct symbol *symbol_of(const char *text, size_t length, bool prefixed)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strlen(symbols[i].name) == length && strncmp(symbols[i].name, text, length) == 0 &&
            (!prefixed || symbols[i].prefix))
            return &symbols[i];
    return NULL;
}

/* "mA": the symbol as it is, else behind a prefix. */
static const struct symbol *find_symbol(const char *text, size_t length)
{
    const struct symbol *s = symbol_of(text, length, false);
    if (!s && length > 1 && strchr("YZEPTGMkhdcmunpfazy", text[0]))
        s = symbol_of(text + 1, length - 1, true);
    if (!s && length > 2 && strncmp(text, "da", 2) == 0) s = symbol_of(text + 2, length - 2, true);
    return s;
}

/* Factors between '.', each a symbol with an exponent; stops at '/', ')' or the end. */
static const char *factors(const char *text, int sign, dimension *d)
{
    for (;;) {
        size_t length = 0;
        while (isalpha((unsigned char)text[length]) || text[length] == '%') length++;
        if (!length && text[0] == '1') length = 1;
        const struct symbol *s = length ? find_symbol(text, length) : NULL;
        if (!s) return NULL;
        text += length;
        long exponent = 1;
        if (isdigit((unsigned char)text[0]) || text[0] == '-' || text[0] == '+') {
            char *end;
            exponent = strtol(text, &end, 10);
            if (end == text || labs(exponent) > 20) return NULL;
            text = end;
        }
        for (int i = 0; i < BASES; i++)
            d->power[i] = (short)(d->power[i] + sign * (int)exponent * s->power[i] * PARTS);
        if (*text != '.') return text;
        text++;
    }
}

/* "kg.m2/(s2.A)"; not known: empty, "1", or not understood. */
static dimension read_unit(const char *text)
{
    dimension d = { .known = false };
    if (!text || !text[0] || strcmp(text, "1") == 0)
        return d; /* "1" is said of path parameters too, s with v = s + 1 (the library's switches) */
    text = factors(text, 1, &d);
    if (text && *text == '/') {
        bool open = text[1] == '(';
        text = factors(text + 1 + open, -1, &d);
        if (text && open) text = *text == ')' ? text + 1 : NULL;
    }
    d.known = text && *text == 0;
    return d;
}

static const char *unit_text(mo_model *m, const dimension *d)
{
    static const char *const base[] = { "m", "kg", "s", "A", "K", "mol", "cd" };
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols;
         k++) { /* N, Pa, V, ... have names ... */
        int same_powers = 0, used = 0;
        if (!symbols[k].power[1] && !symbols[k].power[3])
            continue; /* ... but m/s is no kn, and J/kg no Gy */
        for (int i = 0; i < BASES; i++) {
            same_powers += d->power[i] == symbols[k].power[i] * PARTS;
            used += symbols[k].power[i] != 0;
        }
        if (same_powers == BASES && used > 1) return symbols[k].name;
    }
    const char *text = "";
    for (int i = 0; i < BASES; i++) {
        if (!d->power[i]) continue;
        const char *dot = text[0] ? "." : "";
        if (d->power[i] == PARTS)
            text = dae_arena_print(&m->context->arena, "%s%s%s", text, dot, base[i]);
        else if (d->power[i] % PARTS)
            text = dae_arena_print(&m->context->arena, "%s%s%s^(%d/%d)", text, dot, base[i],
                                   d->power[i], PARTS);
        else
            text = dae_arena_print(&m->context->arena, "%s%s%s%d", text, dot, base[i],
                                   d->power[i] / PARTS);
    }
    return text[0] ? text : "1";
}

/* ------------------------------------------------------------------ the graph -------- */

typedef struct units {
    mo_model *m;
    dimension *of; /* of every node */
    ex_id *flaw;   /* the node at or below it whose operands disagree; 0: none */
} units;

static bool equal(const dimension *a, const dimension *b)
{
    return memcmp(a->power, b->power, sizeof a->power) == 0;
}

static dimension combined(const dimension *a, const dimension *b, int sign)
{
    dimension d = { .known = a->known && b->known };
    for (int i = 0; i < BASES; i++) d.power[i] = (short)(a->power[i] + sign * b->power[i]);
    return d;
}

static dimension raised(const dimension *a, double exponent)
{
    dimension d = { .known = a->known && fabs(exponent) < 20 };
    for (int i = 0; i < BASES && d.known; i++) {
        double p = a->power[i] * exponent;
        d.known = p == floor(p);
        d.power[i] = (short)p;
    }
    return d;
}

/* Both must have the same unit: the one that is known. */
static dimension same(units *u, ex_id e, ex_id a, ex_id b)
{
    const dimension *x = &u->of[a], *y = &u->of[b];
    if (x->known && y->known && !equal(x, y)) u->flaw[e] = e;
    return x->known ? *x : *y;
}

static dimension of_variable(units *u, const ex_node *n)
{
    dimension d = read_unit(u->m->flat->variable[n->a].unit);
    d.power[2] = (short)(d.power[2] - (int)n->b * PARTS);
    return d;
}

static dimension of_node(units *u, ex_id e)
{
    const ex_node *n = ex_at(u->m->graph, e);
    const dimension none = { .known = false };
    double x;
    switch (n->op) {
    case EX_VARIABLE: return of_variable(u, n);
    case EX_PRE: return read_unit(u->m->flat->variable[n->a].unit);
    case EX_NEGATE:
    case EX_ABS:
    case EX_NO_EVENT:
    case EX_DELAY:
    case EX_DECLARED: return u->of[n->a];
    case EX_ADD:
    case EX_SUBTRACT:
    case EX_MIN:
    case EX_MAX:
    case EX_HOMOTOPY: return same(u, e, n->a, n->b);
    case EX_LESS:
    case EX_LESS_EQUAL:
    case EX_EQUAL:
    case EX_NOT_EQUAL:
    case EX_ATAN2: same(u, e, n->a, n->b); return none;
    case EX_IF: /* if on then 1 else R: what the 1 means is not said */
        same(u, e, n->b, n->c);
        return u->of[n->b].known && u->of[n->c].known ? u->of[n->b] : none;
    case EX_SMOOTH: return u->of[n->b];
    case EX_MULTIPLY: return combined(&u->of[n->a], &u->of[n->b], 1);
    case EX_DIVIDE: return combined(&u->of[n->a], &u->of[n->b], -1);
    case EX_SQRT: return raised(&u->of[n->a], 0.5);
    case EX_POWER: return ex_is_number(u->m->graph, n->b, &x) ? raised(&u->of[n->a], x) : none;
    default: return none;
    }
}

/* ------------------------------------------------------------------ saying ----------- */

static void warn(units *u, ex_id a, ex_id b, const char *what, mo_place place)
{
    mo_model *m = u->m;
    mo_warning(m->context, place, "%s have different units: '%s' and '%s'", what,
               unit_text(m, &u->of[a]), unit_text(m, &u->of[b]));
    mo_why(m->context, "%s is in '%s', %s in '%s'", ex_print(m->graph, a, flat_name, m->flat, 60),
           unit_text(m, &u->of[a]), ex_print(m->graph, b, flat_name, m->flat, 60),
           unit_text(m, &u->of[b]));
    mo_hint(m->context, "look at the declared units, or for a missing factor");
}

static const char *what_of(ex_op op)
{
    switch (op) {
    case EX_ADD: return "the terms of a sum";
    case EX_SUBTRACT: return "the terms of a difference";
    case EX_IF: return "the branches of 'if'";
    case EX_LESS:
    case EX_LESS_EQUAL:
    case EX_EQUAL:
    case EX_NOT_EQUAL: return "the sides of a comparison";
    default: return "the arguments";
    }
}

static void check_expression(units *u, ex_id e, mo_place place)
{
    ex_id flaw = e ? u->flaw[e] : 0;
    if (!flaw) return;
    const ex_node *n = ex_at(u->m->graph, flaw);
    warn(u, n->op == EX_IF ? n->b : n->a, n->op == EX_IF ? n->c : n->b, what_of((ex_op)n->op),
         place);
}

/* An if-equation is (if c then l1 - r1 else l2 - r2) = 0: its branches have units of their own. */
static void check_branches(units *u, ex_id e, mo_place place, int depth)
{
    while (depth < 100 && ex_at(u->m->graph, e)->op == EX_IF) {
        const ex_node *n = ex_at(u->m->graph, e);
        check_expression(u, n->a, place);
        check_branches(u, n->b, place, depth + 1);
        e = n->c;
    }
    if (ex_at(u->m->graph, e)->op != EX_IF) check_expression(u, e, place);
}

static void check_sides(units *u, const flat_equation *q)
{
    double x;
    if (ex_at(u->m->graph, q->left)->op == EX_IF && ex_is_number(u->m->graph, q->right, &x) &&
        x == 0) {
        check_branches(u, q->left, q->place, 0);
        return;
    }
    if (u->of[q->left].known && u->of[q->right].known && !equal(&u->of[q->left], &u->of[q->right]))
        warn(u, q->left, q->right, "the two sides of the equation", q->place);
    check_expression(u, q->left, q->place);
    check_expression(u, q->right, q->place);
}

static void check_value(units *u, const flat_variable *v, ex_id value, const char *what)
{
    dimension own = read_unit(v->unit);
    if (!value || v->type != EX_REAL) return;
    check_expression(u, value, v->place);
    if (!own.known || !u->of[value].known || equal(&own, &u->of[value])) return;
    mo_warning(u->m->context, v->place, "'%s' is in '%s', its %s in '%s'", v->name, v->unit, what,
               unit_text(u->m, &u->of[value]));
    mo_hint(u->m->context, "look at the declared units, or for a missing factor");
}

void mo_check_units(mo_model *m)
{
    flat_model *flat = m->flat;
    units u = { .m = m,
                .of = dae_arena_take(&m->context->arena, m->graph->nodes + 1, sizeof *u.of),
                .flaw = dae_arena_take(&m->context->arena, m->graph->nodes + 1, sizeof *u.flaw) };
    size_t nodes = m->graph->nodes;
    for (ex_id e = 1; e < nodes; e++) {
        u.of[e] = of_node(&u, e);
        for (size_t k = 0; !u.flaw[e] && k < ex_operand_count(m->graph, e); k++)
            u.flaw[e] = u.flaw[ex_operand(m->graph, e, k)];
    }
    for (size_t i = 0; i < flat->equations; i++) check_sides(&u, &flat->equation[i]);
    for (size_t i = 0; i < flat->initials; i++) check_sides(&u, &flat->initial[i]);
    for (size_t i = 0; i < flat->variables; i++) {
        check_value(&u, &flat->variable[i], flat->variable[i].binding, "value");
        check_value(&u, &flat->variable[i], flat->variable[i].start, "start value");
    }
}
