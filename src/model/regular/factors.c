/* factors.c: what the replacements work with: derivatives, leaves that leave an
 * expression, null vectors of J as expressions, and how safe it is to divide by one.
 */
#include "model/regular/object.h"

#include "expression/walk.h"

#include <math.h>
#include <string.h>

enum { MINORS = 9 };

static bool is_unknown(const flat_variable *x)
{
    return x->type == EX_REAL && x->variability == FLAT_CONTINUOUS && !x->input;
}

static ex_id rate(ex_graph *g, ex_id leaf, void *user)
{
    const regular *w = user;
    const ex_node n = *ex_at(g, leaf);
    if (n.op == EX_TIME) return ex_number(g, 1);
    if (n.op == EX_VARIABLE && is_unknown(&w->m->variable[n.a]))
        return ex_variable(g, n.a, n.b + 1, EX_REAL);
    return ex_number(g, 0);
}

/* The k-th derivative; false: there is none. */
bool regular_differentiate(regular *w, ex_id *e, size_t count, uint32_t times)
{
    for (uint32_t k = 0; k < times; k++) {
        ex_id culprit = 0;
        ex_time_derivatives(w->g, e, count, rate, w, &culprit);
        for (size_t i = 0; i < count; i++)
            if (culprit || !e[i]) return false;
    }
    return true;
}

typedef struct swap {
    const ex_id *leaf, *by;
    size_t count;
} swap;

static ex_id swapped(ex_graph *g, ex_id leaf, void *user)
{
    const swap *s = user;
    (void)g;
    for (size_t k = 0; k < s->count; k++)
        if (s->leaf[k] == leaf) return s->by[k];
    return leaf;
}

void regular_put(regular *w, ex_id *root, size_t roots, const ex_id *leaf, const ex_id *by,
                 size_t count)
{
    swap s = { leaf, by, count };
    if (count) ex_substitute(w->g, root, roots, swapped, &s);
}

static bool is_fence(const ex_node *n)
{
    return (n->flags & EX_EVENT) || n->op == EX_DELAY || n->op == EX_PRE || n->op == EX_SAMPLE;
}

/* Does one of the leaves occur in something that is held between events? Then it does more there
 * than its derivatives tell. */
bool regular_is_fenced(regular *w, const ex_id *root, size_t roots, const ex_id *leaf,
                       size_t leaves)
{
    ex_walk *walk = ex_walk_begin(w->g, root, roots);
    ex_id *fence = dae_arena_take(&w->scratch, walk->count + 1, sizeof *fence);
    size_t fences = 0;
    bool found = false;
    for (size_t k = 0; k < walk->count; k++)
        if (is_fence(ex_at(w->g, walk->order[k]))) fence[fences++] = walk->order[k];
    ex_walk_end(w->g, walk);
    if (fences == 0) return false;
    walk = ex_walk_begin(w->g, fence, fences);
    for (size_t k = 0; k < walk->count && !found; k++)
        for (size_t l = 0; l < leaves; l++) found |= walk->order[k] == leaf[l];
    ex_walk_end(w->g, walk);
    return found;
}

static bool has_values(regular *w, const ex_id *e, size_t count)
{
    const double *value = regular_values(w, e, count, POINTS);
    for (size_t p = 0; p < POINTS; p++) {
        bool finite = true;
        for (size_t k = 0; k < count; k++) finite = finite && isfinite(value[p * count + k]);
        if (finite) return true;
    }
    return false;
}

/* Leaves on which the difference of the two sides does not depend leave both of them: 0 comes in
 * their place, or another number where 0 has no value. */
bool regular_remove_leaves(regular *w, ex_id side[2], const ex_id *leaf, size_t leaves)
{
    static const double tries[] = { 0, 1, 0.5, -1, 2 };
    ex_id *by = dae_arena_take(&w->scratch, leaves + 1, sizeof *by);
    if (regular_is_fenced(w, side, 2, leaf, leaves)) return false;
    for (size_t t = 0; t < sizeof tries / sizeof *tries; t++) {
        ex_id now[2] = { side[0], side[1] };
        for (size_t l = 0; l < leaves; l++) by[l] = ex_number(w->g, tries[t]);
        regular_put(w, now, 2, leaf, by, leaves);
        if (!has_values(w, now, 2)) continue;
        side[0] = now[0];
        side[1] = now[1];
        return true;
    }
    return false;
}

/* ---------------------------------------------------------------- factors --------------- */

/* A number that was meant: p / q with a small q. */
static double plain(double x)
{
    for (int q = 1; q <= 60; q++) {
        double p = round(x * q);
        if (p != 0 && fabs(p) < 1e6 && fabs(x - p / q) <= 1e-13 * fabs(x)) return p / q;
    }
    return x;
}

/* At the point with given parameters that has values. */
const double *regular_vector(const regular_null *u)
{
    for (int p = 0; p < ALL_POINTS; p++)
        if (u->value[p]) return u->value[p];
    return NULL;
}

/* Of the rows x columns entries those columns that make the rows regular but for one of them. */
static bool choose_columns(regular *w, const double *A, uint32_t count, uint32_t n,
                           uint32_t *column)
{
    double *B = dae_arena_take(&w->scratch, (size_t)count * count + 1, sizeof *B), kept, dropped;
    uint32_t have = 0;
    for (uint32_t j = 0; j < n && have + 1 < count; j++) {
        column[have] = j;
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = 0; k <= have; k++)
                B[(size_t)i * (have + 1) + k] = A[(size_t)i * n + column[k]];
        if (regular_count_rank(&w->scratch, B, count, have + 1, &kept, &dropped) == have + 1)
            have++;
    }
    return have + 1 == count;
}

/* Minors of a (count) x (count - 1) matrix without row i, with signs: they cancel its columns.
 * D[set] is the determinant of the rows in the set and the first |set| columns. */
static bool take_minors(regular *w, const ex_id *E, uint32_t count, ex_id *factor)
{
    if (count > MINORS) return false;
    size_t sets = (size_t)1 << count;
    ex_id *D = dae_arena_take(&w->scratch, sets, sizeof *D);
    D[0] = ex_number(w->g, 1);
    for (size_t set = 1; set + 1 < sets; set++) {
        uint32_t column = 0, above = 0;
        for (uint32_t i = 0; i < count; i++) column += (uint32_t)(set >> i & 1);
        column--;
        D[set] = ex_number(w->g, 0);
        for (uint32_t i = count; i-- > 0;) {
            if (!(set >> i & 1)) continue;
            ex_id a = E[(size_t)i * (count - 1) + column];
            ex_id term = ex_binary(w->g, EX_MULTIPLY, a, D[set & ~((size_t)1 << i)]);
            D[set] = ex_binary(w->g, above++ % 2 ? EX_SUBTRACT : EX_ADD, D[set], term);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        ex_id minor = D[(sets - 1) & ~((size_t)1 << i)];
        factor[i] = i % 2 ? ex_unary(w->g, EX_NEGATE, minor) : minor;
    }
    return true;
}

/* The entries of u as expressions, up to a common factor: 1 at `one` if they are numbers. */
bool regular_factors(regular *w, const regular_block *b, const regular_null *u, bool right,
                     uint32_t one, ex_id *factor)
{
    uint32_t count = u->count, n = b->size;
    const double *value = regular_vector(u);
    if (u->constant) {
        for (uint32_t k = 0; k < count; k++)
            factor[k] = ex_number(w->g, plain(value[k] / value[one]));
        return true;
    }
    if (count > MINORS) return false;
    uint32_t *column = dae_arena_take(&w->scratch, count + 1, sizeof *column);
    double *A = dae_arena_take(&w->scratch, (size_t)count * n + 1, sizeof *A);
    const double *J = NULL;
    for (int p = ALL_POINTS - 1; p >= 0; p--)
        if (b->J[p]) J = b->J[p];
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < n; j++)
            A[(size_t)i * n + j] =
                right ? J[(size_t)j * n + u->at[i]] : J[(size_t)u->at[i] * n + j];
    if (!choose_columns(w, A, count, n, column)) return false;
    ex_id *E = dae_arena_take(&w->scratch, (size_t)count * count + 1, sizeof *E);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k + 1 < count; k++) {
            uint32_t row = right ? column[k] : u->at[i], col = right ? u->at[i] : column[k];
            ex_id slope = regular_slope(w, b->row[row], b->column[col]);
            if (!slope) return false;
            E[(size_t)i * (count - 1) + k] = slope;
        }
    return take_minors(w, E, count, factor);
}

/* Do these contain x_j only below the order d_j - level? Columns of the block that may reach it
 * are marked; those outside may unless `strict`. */
bool regular_stays_low(regular *w, const regular_block *b, const ex_id *e, size_t count,
                       uint32_t level, const bool *may_reach, bool strict)
{
    ex_walk *walk = ex_walk_begin(w->g, e, count);
    bool good = true;
    for (size_t k = 0; k < walk->count && good; k++) {
        const ex_node *n = ex_at(w->g, walk->order[k]);
        uint32_t j = n->op == EX_VARIABLE ? w->s.column_of[n->a] : DAE_NOWHERE;
        if (j == DAE_NOWHERE) continue;
        bool reach = !strict;
        for (uint32_t i = 0; i < b->size; i++)
            if (b->column[i] == j) reach = may_reach && may_reach[i];
        good = reach ? n->b + level <= w->d[j] : n->b + level < w->d[j];
    }
    ex_walk_end(w->g, walk);
    return good;
}

/* ---------------------------------------------------------------- safety ---------------- */

/* How large a factor is near the start, as a rule. */
static double usual_size(regular *w, ex_id factor)
{
    const double *value = regular_values(w, &factor, 1, POINTS);
    double most = 0;
    for (int p = 0; p < POINTS; p++)
        if (isfinite(value[p])) most = fmax(most, fabs(value[p]));
    return most;
}

/* How far from 0 it is with the start values, in these units. */
double regular_safety(regular *w, ex_id factor)
{
    double start = fabs(regular_at_start(w, factor)), size = usual_size(w, factor);
    if (ex_is_number(w->g, factor, NULL)) return INFINITY;
    return isfinite(start) && size > 0 ? start / size : 0;
}

/* Where this is 0 the new equations do not imply the old ones. */
void regular_guard(regular *w, ex_id factor)
{
    flat_model *m = w->m;
    double size = usual_size(w, factor);
    if (ex_is_number(w->g, factor, NULL) || size == 0) return;
    ex_id *watch = dae_arena_take(w->arena, m->watches + 1, sizeof *watch);
    if (m->watches) memcpy(watch, m->watch, m->watches * sizeof *watch);
    watch[m->watches++] = ex_binary(w->g, EX_DIVIDE, factor, ex_number(w->g, size));
    m->watch = watch;
    m->guards++;
}
