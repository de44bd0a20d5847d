/* derivative.c: the differentiation index of the equations as written, by their derivative array.
 *
 * The smallest k for which F = 0, F' = 0, ..., F^(k) = 0 determine x' (Campbell: the Jacobian by
 * (x',
 * ..., x^(k+1)) is 1-full in x'). The array is that of model/array; values that satisfy it are
 * found by Gauss and Newton's method: of the consistent start, or, where that was not found, with x
 * from the start values on. (The index may depend on the branch of a solution: then the structure
 * is wrong on some, and there is no start to be had from it.)
 */
#include "model/insight/insight.h"

#include "model/array/array.h"

#include <math.h>
#include <string.h>

/* Before anything is computed: of the consistent start, or guesses. */
static double first_value(const insight *k, uint32_t column, uint32_t order)
{
    const ex_node leaf = { .op = EX_VARIABLE, .a = k->s->variable[column], .b = order };
    double v = k->started ? insight_value(k, &leaf)
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

/* One differentiation more; false: too many rows. */
static bool raise(insight *k, derivative_array *a, array_point *p, array_base *b)
{
    int n = (int)a->n, level = a->level + 1, rows = (level + 1) * n, columns = (level + 2) * n;
    if (!array_raise(a, level) || !array_base_open(b, k->arena, n, rows, columns - n)) return false;
    array_point_open(p, k->arena, rows, columns);
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

int insight_derivative_index(insight *k, const ex_id *residual, double *x, bool *violated,
                             double *gap, const char **how)
{
    uint32_t n = k->s->rows;
    derivative_array *a = k->array;
    array_point p = { .a = a, .t = k->out.start_time };
    array_base b = { 0 };
    ex_id culprit;
    array_close(a);
    *how = "an equation cannot be differentiated often enough";
    if (array_open(a, k->g, k->arena, &k->m->memory, residual, k->s->variable, n, &culprit) !=
        DAE_OK)
        return -1;
    array_tell(a, k->g, known_value, k);
    a->tau = find_tau(k, n);
    *how = "the derivative array has too many equations";
    while (raise(k, a, &p, &b)) {
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
        if (!array_linearize(&p, &b) ||
            !array_decompose(&b, array_rows(a), array_columns(a) - (int)n))
            return -1;
        if (!array_is_full(&b)) continue;
        *how = dae_arena_print(
            k->arena, "derivative array at %s: singular values kept >= %.1e, dropped <= %.1e",
            name_of_point(k, &p), b.kept, b.dropped);
        *gap = array_gap(&b);
        if (*gap < INSIGHT_DOUBTFUL) {
            *how = dae_arena_print(k->arena, "a rank is in doubt, it may be %d: %s", a->level, *how);
            return -1;
        }
        k->out.array_freedom = (int)n - b.constraints;
        return a->level;
    }
    return -1;
}
