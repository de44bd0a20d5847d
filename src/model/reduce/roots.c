/* roots.c: kinks that are hidden in roots.
 *
 * (x^2)^0.5, sqrt(x*x), (x^4)^0.25 and exp(0.5*log(x^2)) are abs(x): continuous, but a derivative
 * is not, and what is differentiated symbolically is 0/0 at the kink. Nothing there tells an event
 * from rounding. So in equations that are differentiated a root of a product is written with the
 * factors that occur in it an even number of times taken out of it,
 *
 *     (v^(2k) w)^p = abs(v)^(2kp) w^p,
 *
 * where w is a constant or never negative: elsewhere the left side may be defined where the right
 * one is not. abs then causes an event (jumps.c); where 2kp is even, or v is never negative, it is
 * not needed.
 */
#include "model/reduce/reduce.h"

#include "expression/walk.h"

#include <float.h>
#include <math.h>

enum { FACTORS = 16, DEEP = 40 };

typedef struct product {
    ex_id base[FACTORS];
    int exponent[FACTORS], count;
    ex_id rest;    /* what else is a factor; 0: nothing */
    bool complete; /* false: there was no room */
} product;

/* A whole number that is small enough to count with. */
static bool is_count(const ex_graph *g, ex_id e, int *n)
{
    double x;
    if (!ex_is_number(g, e, &x) || x != floor(x) || fabs(x) > 1000) return false;
    *n = (int)x;
    return true;
}

/* Never negative, whatever its unknowns are; false: perhaps. */
static bool is_positive(const ex_graph *g, ex_id e, int deep)
{
    const ex_node *n = ex_at(g, e);
    double x;
    int k;
    if (ex_is_number(g, e, &x)) return x >= 0;
    if (deep == 0) return false;
    switch (n->op) {
    case EX_ABS:
    case EX_EXP:
    case EX_SQRT:
    case EX_COSH: return true;
    case EX_POWER: return (is_count(g, n->b, &k) && k % 2 == 0) || is_positive(g, n->a, deep - 1);
    case EX_MULTIPLY:
        if (n->a == n->b) return true;
        return is_positive(g, n->a, deep - 1) && is_positive(g, n->b, deep - 1);
    case EX_ADD:
    case EX_DIVIDE: return is_positive(g, n->a, deep - 1) && is_positive(g, n->b, deep - 1);
    default: return false;
    }
}

/* Of numbers and parameters only. */
static bool is_constant(const flat_model *m, ex_id e)
{
    bool constant = true;
    ex_walk *w = ex_walk_begin(m->graph, &e, 1);
    for (size_t i = 0; i < w->count && constant; i++) {
        const ex_node *n = ex_at(m->graph, w->order[i]);
        if (n->op == EX_VARIABLE)
            constant = m->variable[n->a].variability <= FLAT_PARAMETER;
        else
            constant = n->op == EX_NUMBER || ex_operand_count(m->graph, w->order[i]) > 0;
    }
    ex_walk_end(m->graph, w);
    return constant;
}

static ex_id times(ex_graph *g, ex_id a, ex_id b)
{
    return a && b ? ex_binary(g, EX_MULTIPLY, a, b) : a ? a : b;
}

static ex_id to_the(ex_graph *g, ex_id a, int n)
{
    return n == 1 ? a : ex_binary(g, EX_POWER, a, ex_number(g, n));
}

static void note_factor(product *p, ex_id base, int exponent)
{
    int k = 0;
    while (k < p->count && p->base[k] != base) k++;
    if (k == FACTORS) {
        p->complete = false;
        return;
    }
    if (k == p->count) p->exponent[p->count++] = 0;
    p->base[k] = base;
    p->exponent[k] += exponent;
}

/* The factors of e^exponent. */
static void find_factors(ex_graph *g, ex_id e, int exponent, int deep, product *p)
{
    const ex_node n = *ex_at(g, e);
    int k;
    if (deep == 0) {
        note_factor(p, e, exponent);
    } else if (n.op == EX_MULTIPLY || n.op == EX_DIVIDE) {
        find_factors(g, n.a, exponent, deep - 1, p);
        find_factors(g, n.b, n.op == EX_DIVIDE ? -exponent : exponent, deep - 1, p);
    } else if (n.op == EX_POWER && is_count(g, n.b, &k)) {
        find_factors(g, n.a, k * exponent, deep - 1, p);
    } else if (n.op == EX_NEGATE) {
        find_factors(g, n.a, exponent, deep - 1, p);
        if (exponent % 2) p->rest = times(g, p->rest, ex_number(g, -1));
    } else if (n.op == EX_NUMBER) {
        p->rest = times(g, p->rest, to_the(g, e, exponent));
    } else {
        note_factor(p, e, exponent);
    }
}

/* abs(v)^(times p), as plainly as possible. */
static ex_id even_root(ex_graph *g, ex_id v, int times, ex_id p)
{
    double x = 0;
    bool number = ex_is_number(g, p, &x);
    double q = times * x, whole = nearbyint(q);
    if (number && fabs(q - whole) <= 4 * DBL_EPSILON * fabs(q)) q = whole; /* 6*(1/3) */
    bool even = number && q == whole && fmod(q, 2) == 0;
    if (!even && !is_positive(g, v, DEEP)) v = ex_unary(g, EX_ABS, v);
    ex_id power = number ? ex_number(g, q) : ex_binary(g, EX_MULTIPLY, ex_number(g, times), p);
    return number && q == 1 ? v : ex_binary(g, EX_POWER, v, power);
}

/* u^p with even powers taken out; 0: there are none, or it may not be. */
static ex_id open_root(const flat_model *m, ex_id u, ex_id p)
{
    ex_graph *g = m->graph;
    product f = { .complete = true };
    ex_id made = 0, rest;
    bool taken = false;
    find_factors(g, u, 1, DEEP, &f);
    if (!f.complete) return 0;
    rest = f.rest;
    for (int k = 0; k < f.count; k++)
        if (f.exponent[k] % 2) rest = times(g, rest, to_the(g, f.base[k], f.exponent[k]));
    if (rest && !is_positive(g, rest, DEEP) && !is_constant(m, rest)) return 0;
    for (int k = 0; k < f.count; k++) {
        if (f.exponent[k] % 2 || f.exponent[k] == 0) continue;
        made = times(g, made, even_root(g, f.base[k], f.exponent[k], p));
        taken |= !is_constant(m, f.base[k]);
    }
    if (!taken) return 0;
    return rest ? times(g, made, ex_binary(g, EX_POWER, rest, p)) : made;
}

/* Is e = p log(u) with a constant p? */
static bool is_logarithm(const flat_model *m, ex_id e, ex_id *u, ex_id *p)
{
    ex_graph *g = m->graph;
    const ex_node n = *ex_at(g, e);
    ex_id below = 0;
    if (n.op == EX_LOG) {
        *u = n.a;
        *p = ex_number(g, 1);
        return true;
    }
    if (n.op == EX_NEGATE && is_logarithm(m, n.a, u, &below)) {
        *p = ex_unary(g, EX_NEGATE, below);
        return true;
    }
    if (n.op != EX_MULTIPLY && n.op != EX_DIVIDE) return false;
    bool left = is_constant(m, n.b) && is_logarithm(m, n.a, u, &below);
    bool right =
        !left && n.op == EX_MULTIPLY && is_constant(m, n.a) && is_logarithm(m, n.b, u, &below);
    if (!left && !right) return false;
    *p = ex_binary(g, (ex_op)n.op, below, left ? n.b : n.a);
    return true;
}

/* Is e = u^p, not a whole power but with a constant p? */
static bool is_root(const flat_model *m, ex_id e, ex_id *u, ex_id *p)
{
    ex_graph *g = m->graph;
    const ex_node n = *ex_at(g, e);
    double x;
    if (n.op == EX_EXP) return is_logarithm(m, n.a, u, p);
    if (n.op != EX_SQRT && n.op != EX_POWER) return false;
    *u = n.a;
    *p = n.op == EX_SQRT ? ex_number(g, 0.5) : n.b;
    if (ex_is_number(g, *p, &x)) return x != floor(x);
    return is_constant(m, *p);
}

void flat_open_roots(const flat_model *m, ex_id *side, size_t sides)
{
    ex_graph *g = m->graph;
    ex_walk *w = ex_walk_begin(g, side, sides);
    for (size_t i = 0; i < w->count; i++) {
        ex_id e = w->order[i], made = ex_walk_rebuild(g, w, e), u, p;
        if (is_root(m, made, &u, &p)) {
            ex_id opened = open_root(m, u, p);
            if (opened) made = opened;
        }
        w->image[e] = made;
    }
    for (size_t k = 0; k < sides; k++) side[k] = w->image[side[k]];
    ex_walk_end(g, w);
}
