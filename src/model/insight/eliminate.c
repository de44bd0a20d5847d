/* eliminate.c: derivatives that equations determine only together, taken out of them.
 *
 * With a mass matrix that is not diagonal, M u' = f + G' l, G u' = g, no equation tells a single
 * u_j'. But there are more of them than derivatives: what Gauss's elimination leaves of the others
 * has none, and constrains the values, here l. Rows are multiplied with pivots and never divided by
 * them: what comes out follows wherever it is looked at, and says as much where no pivot is 0.
 */
#include "model/insight/insight.h"

#include "expression/tidy.h"
#include "expression/walk.h"

#include <string.h>

enum { LARGE = 3000 }; /* nodes of an expression that is not taken any further */

typedef struct elimination {
    insight *k;
    ex_graph *g;
    ex_id *row;
    size_t rows;
    bool *done; /* it was a pivot's row, or is left as it is */
} elimination;

/* Derivatives in an expression, by order the highest first; how many there are. */
static size_t list_derivatives(elimination *x, ex_id e, ex_id *highest, size_t *nodes)
{
    size_t count = 0;
    uint32_t most = 0;
    ex_walk *w = ex_walk_begin(x->g, &e, 1);
    *nodes = w->count;
    for (size_t i = 0; i < w->count; i++) {
        const ex_node *n = ex_at(x->g, w->order[i]);
        if (!insight_unknown(x->k, n) || n->b == 0) continue;
        count++;
        if (n->b > most) {
            most = n->b;
            *highest = w->order[i];
        }
    }
    ex_walk_end(x->g, w);
    return count;
}

bool insight_contains(ex_graph *g, ex_id e, ex_id leaf)
{
    bool found = false;
    ex_walk *w = ex_walk_begin(g, &e, 1);
    for (size_t i = 0; i < w->count && !found; i++) found = w->order[i] == leaf;
    ex_walk_end(g, w);
    return found;
}

static ex_id zero_for(ex_graph *g, ex_id leaf, void *user)
{
    return leaf == *(const ex_id *)user ? ex_number(g, 0) : leaf;
}

bool insight_split(ex_graph *g, ex_id e, ex_id leaf, ex_id *a, ex_id *b)
{
    ex_id culprit = 0;
    *a = ex_derivative(g, e, leaf, &culprit);
    if (culprit || !*a) return false;
    *a = ex_tidy(g, *a);
    if (insight_contains(g, *a, leaf)) return false;
    *b = e;
    ex_substitute(g, b, 1, zero_for, &leaf);
    return true;
}

/* The row that is best to take a leaf out of the others: a number before it, few derivatives. */
static size_t find_pivot(elimination *x, ex_id leaf, ex_id *a, ex_id *b)
{
    size_t best = x->rows, fewest = SIZE_MAX;
    for (size_t i = 0; i < x->rows; i++) {
        ex_id p, q, any;
        double number = 1;
        size_t nodes;
        if (x->done[i] || !insight_contains(x->g, x->row[i], leaf)) continue;
        if (!insight_split(x->g, x->row[i], leaf, &p, &q)) continue;
        bool plain = ex_is_number(x->g, p, &number);
        if (plain && number == 0) continue;
        size_t cost = list_derivatives(x, x->row[i], &any, &nodes) + (plain ? 0 : x->rows);
        if (cost >= fewest) continue;
        fewest = cost;
        best = i;
        *a = p;
        *b = q;
    }
    return best;
}

static ex_id product(elimination *x, ex_id a, ex_id b)
{
    return ex_binary(x->g, EX_MULTIPLY, a, b);
}

/* One derivative out of all rows but the one that tells it. */
static void take_out(elimination *x, ex_id leaf)
{
    ex_id a = 0, b = 0;
    size_t pivot = find_pivot(x, leaf, &a, &b);
    for (size_t i = 0; i < x->rows; i++) {
        ex_id c, d;
        if (x->done[i] || i == pivot || !insight_contains(x->g, x->row[i], leaf)) continue;
        if (pivot == x->rows || !insight_split(x->g, x->row[i], leaf, &c, &d)) {
            x->done[i] = true; /* it stays as it is */
            continue;
        }
        ex_id rest = ex_binary(x->g, EX_SUBTRACT, product(x, a, d), product(x, c, b));
        x->row[i] = ex_tidy(x->g, rest);
        x->done[i] = insight_contains(x->g, x->row[i], leaf);
    }
    if (pivot < x->rows) x->done[pivot] = true;
}

void insight_eliminate(insight *k, ex_id *row, size_t rows, bool *free)
{
    elimination x = { .k = k, .g = k->g, .row = row, .rows = rows };
    x.done = dae_arena_take(k->arena, rows + 1, sizeof *x.done);
    memset(free, 0, rows * sizeof *free);
    for (bool more = true; more;) {
        ex_id leaf = 0;
        uint32_t most = 0;
        for (size_t i = 0; i < rows; i++) {
            ex_id highest = 0;
            size_t nodes;
            if (x.done[i]) continue;
            if (list_derivatives(&x, row[i], &highest, &nodes) == 0) {
                x.done[i] = free[i] = true;
            } else if (nodes > LARGE) {
                x.done[i] = true;
            } else if (ex_at(k->g, highest)->b > most) {
                most = ex_at(k->g, highest)->b;
                leaf = highest;
            }
        }
        more = leaf != 0;
        if (more) take_out(&x, leaf);
    }
}
