/* derivative.c: the differentiation index of the equations as written, by their derivative array.
 *
 * The smallest k for which F = 0, F' = 0, ..., F^(k) = 0 determine x' (Campbell: the Jacobian by
 * (x', ..., x^(k+1)) is 1-full in x'). The array is that of model/array; values that satisfy it are
 * found by Gauss and Newton's method: from the Taylor series of the solution through the consistent
 * start on where structure determines it, else from that start, or, where that was not found, with
 * x from the start values on. (The index may depend on the branch of a solution: then the structure
 * is wrong on some, and there is no start to be had from it.)
 *
 * After many differentiations ranks of the array may be in doubt. Where the system Jacobian is
 * regular the offsets of structure tell the index as well (offsets.c); where both do they have to
 * agree.
 */
#include "model/insight/insight.h"

#include "model/array/array.h"

#include <math.h>
#include <string.h>

static const double LOWEST = 5e-13; /* part of singular values that may count */

/* Before anything is computed: of the consistent start, or guesses. */
static double first_value(const insight *k, uint32_t column, uint32_t order)
{
    const ex_node leaf = { .op = EX_VARIABLE, .a = k->s->variable[column], .b = order };
    double v = k->started   ? insight_value(k, &leaf)
               : order == 0 ? k->m->value[slot_of(leaf.a, 2)]
                            : 0;
    return isfinite(v) ? v : 0;
}

static double known_value(const ex_node *leaf, void *user)
{
    return insight_value(user, leaf);
}

/* 1 / how fast the solution moves at the start, 1 at most. */
static double find_tau(const insight *k, uint32_t n)
{
    double speed = 1;
    for (uint32_t j = 0; j < n; j++)
        speed = fmax(speed, fabs(first_value(k, j, 1)) / (1 + fabs(first_value(k, j, 0))));
    return 1 / speed;
}

/* Where the search begins. */
typedef struct origin {
    double *c, tau; /* Taylor coefficients in this unit of time, or NULL */
    int orders;     /* ... up to this */
} origin;

/* Offsets that are right, and a regular system Jacobian: -1: it is not, or not clearly. */
static int index_of_offsets(insight *k, derivative_array *a, double *x, double *part)
{
    uint32_t n = a->n;
    if (!k->started || k->s->columns != n) return -1;
    for (uint32_t j = 0; j < 2 * n; j++) {
        const ex_node leaf = { .op = EX_VARIABLE, .a = k->s->variable[j % n], .b = j / n };
        bool used = j / n <= k->s->d[j % n];
        if (used && !isfinite(insight_value(k, &leaf))) return -1;
        x[j] = first_value(k, j % n, j / n) * (j < n ? 1 : a->tau);
    }
    int index = array_index_of_offsets(a, k->out.start_time, k->s->c, k->s->d, x, part);
    for (uint32_t j = n; j < 2 * n; j++) x[j] /= a->tau;
    return index;
}

/* Of the solution through the start, as often as the array may be differentiated; c is NULL where
 * structure does not determine them. */
static origin find_series(insight *k, derivative_array *a)
{
    size_t n = a->n;
    int most = ARRAY_ROWS / (int)n - 1, beyond = k->out.structural_index + 2;
    origin o = { .tau = a->tau, .orders = (most < ARRAY_LEVELS ? most : ARRAY_LEVELS) + 1 };
    if (!k->started || most < 0 || k->s->columns != k->s->rows) return o;
    if (o.orders > beyond) o.orders = beyond;
    double *c = dae_arena_take(k->arena, (size_t)(o.orders + 1) * n + 1, sizeof *c), unit = 1;
    for (int m = 0; m <= o.orders; m++, unit *= a->tau / m)
        for (size_t j = 0; j < n && unit > 0; j++)
            c[(size_t)m * n + j] = unit * first_value(k, (uint32_t)j, (uint32_t)m);
    if (array_find_series(a, k->out.start_time, k->s->c, k->s->d, o.orders, c)) o.c = c;
    return o;
}

/* All coefficients anew: those that were found moved with what is not determined yet. */
static void put_series(const origin *o, array_point *p)
{
    int n = (int)p->a->n;
    double by = p->a->tau / o->tau, power = 1;
    for (int m = 0; m < p->a->level + 2; m++, power *= by)
        for (int j = 0; j < n; j++) p->c[m * n + j] = power * o->c[m * n + j];
}

/* One differentiation more; false: too many rows. */
static bool raise(insight *k, const origin *o, derivative_array *a, array_point *p, array_base *b)
{
    int n = (int)a->n, level = a->level + 1, rows = (level + 1) * n, columns = (level + 2) * n;
    if (!array_raise(a, level) || !array_base_open(b, k->arena, n, rows, columns - n)) return false;
    array_point_open(p, k->arena, rows, columns);
    if (o->c && level < o->orders) {
        put_series(o, p);
        return true;
    }
    double unit = 1;
    for (int m = 0; m < level + 2; m++, unit *= a->tau / m)
        for (int j = 0; j < n; j++)
            if (m > level || level == 0)
                p->c[m * n + j] = unit * first_value(k, (uint32_t)j, (uint32_t)m);
    return true;
}

static void hold(array_base *b, bool held)
{
    for (int j = 0; j < b->n; j++) b->weight[j] = held ? 0 : 1;
}

/* First with x as it is; then x may move as well: a start that is right to 1e-10 is wrong by 1e-3
 * where a velocity is cubed. */
static bool satisfy(insight *k, array_point *p, array_base *b)
{
    hold(b, true);
    if (k->started) array_satisfy(p, b, false);
    hold(b, false);
    return array_satisfy(p, b, false);
}

/* Ranks are those of a point that satisfies the array. A start that had to move to get there was
 * found by a structure that hides constraints. */
static const char *name_of_point(const insight *k, const array_point *p)
{
    for (uint32_t j = 0; k->started && j < p->a->n; j++) {
        double v = first_value(k, j, 0);
        if (fabs(p->c[j] - v) > 1e-4 * (1 + fabs(v)))
            return "a point that satisfies it, as the start that was found does not";
    }
    return k->started ? "the start" : "a point near the start values";
}

/* Ranks at a point that satisfies the array. Where structure is right it bounds the index: there
 * the cut may be lower, after many differentiations singular values are small. */
static bool decompose(const insight *k, const origin *o, array_point *p, array_base *b, double *gap)
{
    int rows = array_rows(p->a), width = array_columns(p->a) - b->n;
    bool last = o->c && p->a->level == k->out.structural_index, good = true, clear = false;
    for (double zero = ARRAY_ZERO; good && !clear && zero > LOWEST; zero /= 10) {
        b->zero = zero;
        good = array_linearize(p, b) && array_decompose(b, rows, width);
        *gap = array_gap(b);
        clear = !last || (array_is_full(b) && *gap >= INSIGHT_DOUBTFUL);
    }
    b->zero = ARRAY_ZERO;
    if (!good || clear) return good;
    good = array_linearize(p, b) && array_decompose(b, rows, width);
    *gap = array_gap(b);
    return good;
}

/* Level after level from there on. With a regular system Jacobian no index is larger than that of
 * the structure: if ranks say so, they are in doubt. */
static int search_index(insight *k, const origin *o, double *x, bool *violated, double *gap,
                        const char **how)
{
    uint32_t n = k->s->rows;
    derivative_array *a = k->array;
    array_point p = { .a = a, .t = k->out.start_time };
    array_base b = { 0 };
    a->level = k->undetermined = -1;
    a->tau = o->tau;
    *how = "the derivative array has too many equations";
    while (raise(k, o, a, &p, &b)) {
        if (!satisfy(k, &p, &b)) {
            *violated = true;
            *how = "no derivatives were found that satisfy the derivative array";
            return -1;
        }
        for (uint32_t j = 0; j < n; j++) {
            x[j] = p.c[j];
            x[n + j] = p.c[n + j] / a->tau;
        }
        array_choose_units(&p, &b, NULL);
        if (!decompose(k, o, &p, &b, gap)) return -1;
        bool beyond = o->c && a->level > k->out.structural_index;
        if (!array_is_full(&b) && !beyond) {
            *gap = INFINITY;
            k->undetermined = a->level;
            continue;
        }
        *how = dae_arena_print(
            k->arena, "derivative array at %s: singular values kept >= %.1e, dropped <= %.1e",
            name_of_point(k, &p), b.kept, b.dropped);
        if (beyond) *gap = 0;
        if (*gap < INSIGHT_DOUBTFUL) {
            *how = beyond ? dae_arena_print(k->arena,
                                            "a rank is in doubt, structure allows no more than %d, "
                                            "but that is not enough: %s",
                                            k->out.structural_index, *how)
                          : dae_arena_print(k->arena, "a rank is in doubt, it may be %d: %s",
                                            a->level, *how);
            return -1;
        }
        k->out.array_freedom = (int)n - b.constraints;
        return a->level;
    }
    return -1;
}

/* What insight_derivative_index answers with beside the index. */
typedef struct verdict {
    bool *violated;
    double *gap;
    const char **how;
} verdict;

/* Ranks of the array say `index`, -1: nothing; offsets and the system Jacobian say `told`. */
static int settle_index(insight *k, int index, int told, double part, const verdict *v)
{
    if (index >= 0) {
        *v->gap = 0;
        *v->how = dae_arena_print(
            k->arena, "a rank is in doubt: offsets and the system Jacobian say %d, but %d the %s",
            told, index, *v->how);
        k->out.array_freedom = -1;
        return -1;
    }
    *v->violated = false;
    *v->gap = INFINITY;
    *v->how = dae_arena_print(k->arena,
                              "offsets, right as the system Jacobian is regular at the start; "
                              "fewer differentiations leave x' open, by %.1e of its inverse",
                              part);
    k->out.array_freedom = 0;
    for (size_t j = 0; j < k->s->rows; j++)
        k->out.array_freedom += (int)k->s->d[j] - (int)k->s->c[j];
    return told;
}

int insight_derivative_index(insight *k, const ex_id *residual, double *x, bool *violated,
                             double *gap, const char **how)
{
    uint32_t n = k->s->rows;
    derivative_array *a = k->array;
    ex_id culprit;
    array_close(a);
    *how = "an equation cannot be differentiated often enough";
    if (array_open(a, k->g, k->arena, &k->m->memory, residual, k->s->variable, n, &culprit) !=
        DAE_OK)
        return -1;
    array_tell(a, k->g, known_value, k);
    a->tau = find_tau(k, n);
    origin o = find_series(k, a);
    double part = 0;
    double *start = dae_arena_take(k->arena, 2 * (size_t)n + 1, sizeof *start);
    int told = index_of_offsets(k, a, start, &part), index = -1;
    if (told < 0 || (size_t)(told + 1) * n <= ARRAY_ROWS)
        index = search_index(k, &o, x, violated, gap, how);
    if (index != told && told >= 0) {
        if (index < 0) memcpy(x, start, 2 * (size_t)n * sizeof *x);
        return settle_index(k, index, told, part, &(verdict){ violated, gap, how });
    }
    if (index >= 0 || !o.c || !*violated) return index;
    *violated = false;
    *gap = INFINITY;
    o.c = NULL;
    return search_index(k, &o, x, violated, gap, how);
}
