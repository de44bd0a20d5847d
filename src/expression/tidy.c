/* tidy.c: sums of products.
 *
 * Every node becomes a sum of terms, operands first; a term is a number times powers of atoms.
 * An atom is whatever is neither sum nor product nor whole power: a leaf, sin(...), a sum below a
 * fraction line. So expanding is arithmetic of polynomials in atoms, and two expressions that are
 * equal as such polynomials become the same node.
 *
 * Numbers that are computed here carry rounding: 3*(2/3) may be 1.9999999999999998. Where a decimal
 * of at most DIGITS digits is that near it is what was meant. Numbers of the model stay as they
 * are.
 */
#include "expression/tidy.h"

#include "expression/walk.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 64, FACTORS = 24, NODES = 2000, MOST_POWER = 4, DIGITS = 12 };

typedef struct factor {
    ex_id atom;
    int power;
} factor;

typedef struct term {
    double c;
    factor *f;
    int factors;
} term;

typedef struct sum {
    term *t;
    int terms;
} sum;

typedef struct tidier {
    ex_graph *g;
    ex_walk *w;
    sum *of;       /* by the number of a node in the walk's order */
    bool overflow; /* somewhere there were too many terms: nothing is multiplied out */
} tidier;

/* ---------------------------------------------------------------- terms ----------------- */

static int power_of(const term *t, ex_id atom)
{
    for (int k = 0; k < t->factors; k++)
        if (t->f[k].atom == atom) return t->f[k].power;
    return 0;
}

static bool same_factors(const term *a, const term *b)
{
    if (a->factors != b->factors) return false;
    for (int k = 0; k < a->factors; k++)
        if (power_of(b, a->f[k].atom) != a->f[k].power) return false;
    return true;
}

/* Variables in the order of their declaration (parameters mostly stand first), then the rest. */
static bool goes_before(const ex_graph *g, ex_id a, ex_id b)
{
    const ex_node *x = ex_at(g, a), *y = ex_at(g, b);
    bool vx = x->op == EX_VARIABLE, vy = y->op == EX_VARIABLE;
    if (vx != vy) return vx;
    if (!vx) return a < b;
    return x->a != y->a ? x->a < y->a : x->b < y->b;
}

static void sort_factors(const ex_graph *g, term *t)
{
    for (int i = 1; i < t->factors; i++)
        for (int k = i; k > 0 && goes_before(g, t->f[k].atom, t->f[k - 1].atom); k--) {
            factor swap = t->f[k];
            t->f[k] = t->f[k - 1];
            t->f[k - 1] = swap;
        }
}

double ex_neat(double x)
{
    char text[40];
    if (!isfinite(x) || x == round(x)) return x;
    snprintf(text, sizeof text, "%.*g", DIGITS, x);
    double shorter = strtod(text, NULL);
    return fabs(shorter - x) <= 4 * DBL_EPSILON * fabs(x) ? shorter : x;
}

static double times_number(double a, double b)
{
    return fabs(a) == 1 || fabs(b) == 1 ? a * b : ex_neat(a * b);
}

/* a b^power; false: too many factors. */
static bool times(ex_graph *g, const term *a, const term *b, int power, term *out)
{
    factor *f = dae_arena_take(g->arena, (size_t)(a->factors + b->factors) + 1, sizeof *f);
    int n = 0;
    *out = (term){ .c = times_number(a->c, power == 1 ? b->c : pow(b->c, power)), .f = f };
    for (int k = 0; k < a->factors; k++) {
        int p = a->f[k].power + power * power_of(b, a->f[k].atom);
        if (p) f[n++] = (factor){ a->f[k].atom, p };
    }
    for (int k = 0; k < b->factors; k++)
        if (!power_of(a, b->f[k].atom)) f[n++] = (factor){ b->f[k].atom, power * b->f[k].power };
    out->factors = n;
    sort_factors(g, out);
    return n <= FACTORS && isfinite(out->c);
}

/* ---------------------------------------------------------------- sums ------------------ */

static sum number(ex_graph *g, double c)
{
    sum s = { .t = dae_arena_take(g->arena, 1, sizeof *s.t), .terms = c != 0 };
    s.t[0].c = c;
    return s;
}

static sum atom(ex_graph *g, ex_id e, int power)
{
    sum s = number(g, 1);
    s.t[0].f = dae_arena_take(g->arena, 1, sizeof *s.t[0].f);
    s.t[0].f[0] = (factor){ e, power };
    s.t[0].factors = 1;
    return s;
}

/* What is rounding of the terms that cancelled is nothing. */
static void add_term(sum *s, const term *t)
{
    for (int k = 0; k < s->terms; k++) {
        if (!same_factors(&s->t[k], t)) continue;
        double c = s->t[k].c + t->c;
        if (fabs(c) > 4e-16 * (fabs(s->t[k].c) + fabs(t->c))) {
            s->t[k].c = ex_neat(c);
            return;
        }
        memmove(s->t + k, s->t + k + 1, (size_t)(--s->terms - k) * sizeof *s->t);
        return;
    }
    s->t[s->terms++] = *t;
}

static bool plus(ex_graph *g, const sum *a, const sum *b, double sign, sum *out)
{
    *out = (sum){ .t = dae_arena_take(g->arena, (size_t)(a->terms + b->terms) + 1, sizeof(term)) };
    for (int k = 0; k < a->terms; k++) add_term(out, &a->t[k]);
    for (int k = 0; k < b->terms; k++) {
        term t = b->t[k];
        t.c *= sign;
        add_term(out, &t);
    }
    return out->terms <= TERMS;
}

static bool product(ex_graph *g, const sum *a, const sum *b, sum *out)
{
    if (a->terms * b->terms > 4 * TERMS) return false;
    *out = (sum){ .t = dae_arena_take(g->arena, (size_t)(a->terms * b->terms) + 1, sizeof(term)) };
    for (int i = 0; i < a->terms; i++)
        for (int j = 0; j < b->terms; j++) {
            term t;
            if (!times(g, &a->t[i], &b->t[j], 1, &t)) return false;
            add_term(out, &t);
        }
    return out->terms <= TERMS;
}

/* ---------------------------------------------------------------- back to nodes --------- */

static ex_id power_node(ex_graph *g, ex_id e, int p)
{
    return p == 1 ? e : ex_binary(g, EX_POWER, e, ex_number(g, p));
}

static ex_id over(ex_graph *g, ex_id a, ex_id b)
{
    return a ? ex_binary(g, EX_MULTIPLY, a, b) : b;
}

/* |c| and the factors of one sign of power; 0: nothing. */
static ex_id factors_node(ex_graph *g, const term *t, int sign, double c)
{
    ex_id e = c != 1 ? ex_number(g, c) : 0;
    for (int k = 0; k < t->factors; k++)
        if (t->f[k].power * sign > 0)
            e = over(g, e, power_node(g, t->f[k].atom, abs(t->f[k].power)));
    return e;
}

/* A half is written as /2. */
static ex_id term_node(ex_graph *g, const term *t)
{
    double c = fabs(t->c), below = 1, whole = round(1 / c);
    if (c < 1 && t->factors && fabs(1 / c - whole) < 1e-13 * whole && whole <= 1000) {
        below = whole;
        c = 1;
    }
    ex_id top = factors_node(g, t, 1, c), bottom = factors_node(g, t, -1, below);
    if (!top) top = ex_number(g, 1);
    return bottom ? ex_binary(g, EX_DIVIDE, top, bottom) : top;
}

static ex_id sum_node(ex_graph *g, const sum *s)
{
    ex_id e = 0;
    for (int k = 0; k < s->terms; k++) {
        ex_id t = term_node(g, &s->t[k]);
        if (!e)
            e = s->t[k].c < 0 ? ex_unary(g, EX_NEGATE, t) : t;
        else
            e = ex_binary(g, s->t[k].c < 0 ? EX_SUBTRACT : EX_ADD, e, t);
    }
    return e ? e : ex_number(g, 0);
}

/* ---------------------------------------------------------------- nodes to sums --------- */

/* s^-1 of a sum of several terms: its node is an atom, its number is taken out. */
static sum inverse(ex_graph *g, const sum *s)
{
    sum out = number(g, 1);
    if (s->terms == 1) {
        term one = { .c = 1 };
        times(g, &one, &s->t[0], -1, &out.t[0]);
        return out;
    }
    return atom(g, sum_node(g, s), -1);
}

static bool whole_power(tidier *t, const ex_node *n, const sum *base, sum *out)
{
    double p;
    if (!ex_is_number(t->g, n->b, &p) || p != round(p) || fabs(p) > 20) return false;
    if (base->terms == 1) {
        term one = { .c = 1 };
        *out = number(t->g, 1);
        return times(t->g, &one, &base->t[0], (int)p, &out->t[0]);
    }
    if (p < 1 || p > MOST_POWER || base->terms == 0) return false;
    *out = *base;
    for (int k = 1; k < (int)p; k++) {
        sum next;
        if (!product(t->g, out, base, &next)) return false;
        *out = next;
    }
    return true;
}

static bool arithmetic(tidier *t, const ex_node *n, const sum *a, const sum *b, sum *out)
{
    sum zero = { 0 }, inv;
    switch (n->op) {
    case EX_NEGATE: return plus(t->g, &zero, a, -1, out);
    case EX_ADD: return plus(t->g, a, b, 1, out);
    case EX_SUBTRACT: return plus(t->g, a, b, -1, out);
    case EX_MULTIPLY: return product(t->g, a, b, out);
    case EX_DIVIDE:
        if (b->terms == 0) return false;
        inv = inverse(t->g, b);
        return isfinite(inv.t[0].c) && product(t->g, a, &inv, out);
    case EX_POWER: return whole_power(t, n, a, out);
    default: return false;
    }
}

static sum take_node(tidier *t, ex_id e, const uint32_t *place)
{
    double value;
    sum s;
    const ex_node n = *ex_at(t->g, e);
    bool numeric = n.type == EX_REAL || n.type == EX_INTEGER;
    if (numeric && ex_is_number(t->g, e, &value)) return number(t->g, value);
    if (numeric && (n.op == EX_NEGATE || (n.op >= EX_ADD && n.op <= EX_POWER))) {
        const sum *a = &t->of[place[n.a]], *b = n.op == EX_NEGATE ? a : &t->of[place[n.b]];
        if (arithmetic(t, &n, a, b, &s)) return s;
        t->overflow |= n.op != EX_POWER && (n.op != EX_DIVIDE || b->terms > 0);
    }
    return atom(t->g, ex_operand_count(t->g, e) ? ex_walk_rebuild(t->g, t->w, e) : e, 1);
}

/* false: too large. */
static bool to_sum(ex_graph *g, ex_id e, sum *out)
{
    ex_walk *w = ex_walk_begin(g, &e, 1);
    if (w->count > NODES) {
        ex_walk_end(g, w);
        return false;
    }
    tidier t = { .g = g, .w = w, .of = dae_arena_take(g->arena, w->count + 1, sizeof *t.of) };
    ex_walk *numbers = ex_walk_begin(g, &e, 1); /* its images: the places of nodes */
    uint32_t *place = numbers->image;
    size_t count = w->count;
    for (size_t k = 0; k < count; k++) {
        ex_id at = w->order[k];
        place[at] = (uint32_t)k;
        t.of[k] = take_node(&t, at, place);
        const ex_node *n = ex_at(g, at);
        bool numeric = n->type == EX_REAL || n->type == EX_INTEGER;
        w->image[at] = numeric ? sum_node(g, &t.of[k]) : t.of[k].t[0].f[0].atom;
    }
    *out = t.of[count - 1];
    ex_walk_end(g, numbers);
    ex_walk_end(g, w);
    return !t.overflow;
}

ex_id ex_tidy(ex_graph *g, ex_id e)
{
    sum s;
    return to_sum(g, e, &s) ? sum_node(g, &s) : e;
}

/* ---------------------------------------------------------------- equations ------------- */

/* The number that all coefficients are whole multiples of; else the largest of them. */
static double content(const sum *s)
{
    double unit = INFINITY, most = 0;
    for (int k = 0; k < s->terms; k++) {
        unit = fmin(unit, fabs(s->t[k].c));
        most = fmax(most, fabs(s->t[k].c));
    }
    for (int share = 1; share <= 12; share++) {
        bool whole = true;
        for (int k = 0; k < s->terms && whole; k++) {
            double q = fabs(s->t[k].c) * share / unit;
            whole = fabs(q - round(q)) < 1e-12 * q && q < 1e6;
        }
        if (whole) return unit / share;
    }
    return 1;
}

/* Divides by the number in common and multiplies by denominators that all terms have. */
static void simplify(ex_graph *g, sum *s)
{
    if (s->terms == 0) return;
    term common = { .c = content(s), .f = dae_arena_take(g->arena, FACTORS + 1, sizeof(factor)) };
    if (s->t[0].c < 0) common.c = -common.c;
    for (int k = 0; k < s->t[0].factors; k++) {
        int least = -s->t[0].f[k].power;
        for (int i = 1; i < s->terms; i++) {
            int p = -power_of(&s->t[i], s->t[0].f[k].atom);
            least = p < least ? p : least;
        }
        if (least > 0) common.f[common.factors++] = (factor){ s->t[0].f[k].atom, -least };
    }
    for (int i = 0; i < s->terms; i++) {
        term t = s->t[i];
        times(g, &t, &common, -1, &s->t[i]);
        double near = round(s->t[i].c);
        if (fabs(s->t[i].c - near) < 1e-12 * fabs(near)) s->t[i].c = near;
    }
}

typedef struct asker {
    bool (*known)(const ex_graph *g, ex_id leaf, void *user);
    void *user;
} asker;

static bool is_leaf(const ex_graph *g, ex_id e)
{
    return ex_operand_count(g, e) == 0;
}

static bool term_known(ex_graph *g, const term *t, const asker *a)
{
    bool known = true;
    for (int k = 0; k < t->factors && known; k++) {
        ex_walk *w = ex_walk_begin(g, &t->f[k].atom, 1);
        for (size_t i = 0; i < w->count && known; i++)
            if (is_leaf(g, w->order[i]) && !ex_is_number(g, w->order[i], NULL))
                known = a->known(g, w->order[i], a->user);
        ex_walk_end(g, w);
    }
    return known;
}

bool ex_tidy_equation(ex_graph *g, ex_id *left, ex_id *right,
                      bool (*known)(const ex_graph *g, ex_id leaf, void *user), void *user)
{
    asker a = { known, user };
    sum s, unknown, rest;
    if (!to_sum(g, ex_binary(g, EX_SUBTRACT, *left, *right), &s)) return true;
    simplify(g, &s);
    unknown.t = dae_arena_take(g->arena, (size_t)s.terms + 1, sizeof(term));
    rest.t = dae_arena_take(g->arena, (size_t)s.terms + 1, sizeof(term));
    unknown.terms = rest.terms = 0;
    for (int k = 0; k < s.terms; k++)
        if (term_known(g, &s.t[k], &a))
            rest.t[rest.terms++] = s.t[k];
        else
            unknown.t[unknown.terms++] = s.t[k];
    double sign = unknown.terms && unknown.t[0].c < 0 ? -1 : 1;
    for (int k = 0; k < unknown.terms; k++) unknown.t[k].c *= sign;
    for (int k = 0; k < rest.terms; k++) rest.t[k].c *= -sign;
    *left = sum_node(g, &unknown);
    *right = sum_node(g, &rest);
    return s.terms > 0;
}

void ex_tidy_quotient(ex_graph *g, ex_id numerator, ex_id denominator, ex_id *n, ex_id *d)
{
    sum a, b, both;
    *n = numerator;
    *d = denominator;
    if (!to_sum(g, numerator, &a) || !to_sum(g, denominator, &b) || b.terms == 0) return;
    if (a.terms == 0) {
        *n = ex_number(g, 0);
        *d = ex_number(g, 1);
        return;
    }
    /* what all terms of both have in common: as if they were the terms of one sum */
    both.terms = a.terms + b.terms;
    both.t = dae_arena_take(g->arena, (size_t)both.terms + 1, sizeof(term));
    memcpy(both.t, b.t, (size_t)b.terms * sizeof(term));
    if (a.terms) memcpy(both.t + b.terms, a.t, (size_t)a.terms * sizeof(term));
    term common = { .c = content(&both),
                    .f = dae_arena_take(g->arena, FACTORS + 1, sizeof(factor)) };
    if (both.t[0].c < 0) common.c = -common.c;
    for (int k = 0; k < both.t[0].factors; k++) {
        int least = both.t[0].f[k].power;
        for (int i = 1; i < both.terms; i++) {
            int p = power_of(&both.t[i], both.t[0].f[k].atom);
            least = p < least ? p : least;
        }
        if (least) common.f[common.factors++] = (factor){ both.t[0].f[k].atom, least };
    }
    for (int i = 0; i < a.terms; i++)
        times(g, &(term){ a.t[i].c, a.t[i].f, a.t[i].factors }, &common, -1, &a.t[i]);
    for (int i = 0; i < b.terms; i++)
        times(g, &(term){ b.t[i].c, b.t[i].f, b.t[i].factors }, &common, -1, &b.t[i]);
    *n = sum_node(g, &a);
    *d = sum_node(g, &b);
}

/* ---------------------------------------------------------------- text ------------------ */

typedef struct writer {
    ex_graph *g;
    const char *(*name)(uint32_t variable, void *user);
    void *user;
    size_t limit;
} writer;

/* By their factors, one after another; numbers last. */
static bool term_before(const ex_graph *g, const term *a, const term *b)
{
    int n = a->factors < b->factors ? a->factors : b->factors;
    if ((a->c > 0) != (b->c > 0)) return a->c > 0;
    if (!a->factors || !b->factors) return a->factors > b->factors;
    for (int k = 0; k < n; k++) {
        if (a->f[k].atom != b->f[k].atom) return goes_before(g, a->f[k].atom, b->f[k].atom);
        if (a->f[k].power != b->f[k].power) return a->f[k].power > b->f[k].power;
    }
    return a->factors > b->factors;
}

static void sort_terms(const ex_graph *g, sum *s)
{
    for (int i = 1; i < s->terms; i++)
        for (int k = i; k > 0 && term_before(g, &s->t[k], &s->t[k - 1]); k--) {
            term swap = s->t[k];
            s->t[k] = s->t[k - 1];
            s->t[k - 1] = swap;
        }
}

static const char *factor_text(const writer *w, ex_id atom, int power)
{
    const ex_node *n = ex_at(w->g, atom);
    bool bare = ex_operand_count(w->g, atom) == 0 || (n->op != EX_IF && n->op != EX_NEGATE &&
                                                      n->op != EX_NOT && !ex_ops[n->op].precedence);
    const char *text = ex_print(w->g, atom, w->name, w->user, w->limit);
    if (!bare) text = dae_arena_print(w->g->arena, "(%s)", text);
    return power == 1 ? text : dae_arena_print(w->g->arena, "%s^%d", text, power);
}

/* |c| times the factors of one sign; "": nothing. *count: how many there are. */
static const char *factors_text(const writer *w, const term *t, int sign, double c, int *count)
{
    const char *text = c != 1 ? ex_print(w->g, ex_number(w->g, c), NULL, NULL, 0) : "";
    *count = c != 1;
    for (int k = 0; k < t->factors; k++) {
        if (t->f[k].power * sign < 0) continue;
        const char *one = factor_text(w, t->f[k].atom, abs(t->f[k].power));
        text = dae_arena_print(w->g->arena, "%s%s%s", text, *count ? "*" : "", one);
        ++*count;
    }
    return text;
}

static const char *term_text(const writer *w, const term *t)
{
    double c = fabs(t->c), below = 1, whole = round(1 / c);
    int above, under;
    if (c < 1 && t->factors && fabs(1 / c - whole) < 1e-13 * whole && whole <= 1000) {
        below = whole;
        c = 1;
    }
    const char *top = factors_text(w, t, 1, c, &above);
    const char *bottom = factors_text(w, t, -1, below, &under);
    if (!above) top = "1";
    if (!under) return top;
    return dae_arena_print(w->g->arena, under > 1 ? "%s/(%s)" : "%s/%s", top, bottom);
}

const char *ex_tidy_text(ex_graph *g, ex_id e, const char *(*name)(uint32_t variable, void *user),
                         void *user, size_t limit)
{
    writer w = { g, name, user, limit };
    const char *text = "";
    sum s;
    if (!to_sum(g, e, &s)) return ex_print(g, e, name, user, limit);
    sort_terms(g, &s);
    for (int k = 0; k < s.terms; k++) {
        const char *sign = s.t[k].c < 0 ? (k ? " - " : "-") : k ? " + " : "";
        if (strlen(text) > limit) return dae_arena_print(g->arena, "%s + ...", text);
        text = dae_arena_print(g->arena, "%s%s%s", text, sign, term_text(&w, &s.t[k]));
    }
    return s.terms ? text : "0";
}
