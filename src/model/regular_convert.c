/* regular_convert.c: equations in an equivalent form whose structure shows more.
 *
 * What all of them rest on: where an expression does not depend on a leaf, though the leaf occurs in
 * it, any number may be put there. So nothing has to be expanded or simplified to make a derivative
 * vanish that cancels; it is replaced by 0.
 *
 * Combination (LC): u J = 0 for a block of J; L the rows with u_i != 0, theta = min c_i over L. In
 *
 *     sum over L of u_i F_i^(c_i - theta)
 *
 * the x_j^(d_j - theta) of the block cancel, if u itself contains x_j only below that order. It takes
 * the place of a row l of L with c_l = theta, which follows from it where u_l != 0. (Columns of
 * other blocks may stay: a row that is tight only outside its block cannot be matched any more, and so
 * the value of the signature matrix falls.)
 *
 * Substitution (ES): J v = 0; R the columns with v_j != 0, C = max c_i over the rows of the block in
 * which they are tight, l in R. With new variables y_j = x_j^(d_j - C) - (v_j / v_l) x_l^(d_l - C)
 * for j in R but l, every x_j^(d_j - c_i) in the rows of the block becomes
 * (y_j + (v_j / v_l) x_l^(d_l - C))^(C - c_i): then x_l^(d_l - c_i) cancels there. v must not contain
 * x_j to the order d_j - C or above (j in R or outside the block), and d_j >= C is needed.
 *
 * u and v are numbers if they are the same at all points, else minors of J. Numbers come first, and
 * expressions that are not 0 with the start values before others: u_l = 0 or v_l = 0 at a point makes
 * the new equations weaker than the old ones (a pendulum at rest whose angular momentum was a factor
 * stays where it is). So every such factor is watched while integrating (flat_model's guards).
 */
#include "model/regular_object.h"

#include "expression/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MINORS = 9, TEXT = 400 };

/* A coefficient of a combination that is below this part of its summands is rounding. */
static const double ROUNDING = 1e-12;

/* A factor is not 0 at the start if it is at least this part of what it is elsewhere: start values
 * are guesses. */
static const double SAFE = 1e-2;

/* ---------------------------------------------------------------- the model ------------- */

static regular_change *note(regular *w, regular_kind kind, const regular_block *b)
{
    flat_regular *o = w->out;
    o->change = dae_arena_grow(w->arena, o->change, o->changes, &w->change_capacity, sizeof *o->change);
    o->change[o->changes] = (regular_change){ .kind = kind, .size = b->size, .rank = b->rank,
                                              .words = "" };
    if (b->rank) o->kept = fmin(o->kept, b->kept);
    o->dropped = fmax(o->dropped, b->dropped);
    return &o->change[o->changes++];
}

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
static bool differentiate(regular *w, ex_id *e, size_t count, uint32_t times)
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

static void put(regular *w, ex_id *root, size_t roots, const ex_id *leaf, const ex_id *by,
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
static bool is_fenced(regular *w, const ex_id *root, size_t roots, const ex_id *leaf, size_t leaves)
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
static bool remove_leaves(regular *w, ex_id side[2], const ex_id *leaf, size_t leaves)
{
    static const double tries[] = { 0, 1, 0.5, -1, 2 };
    ex_id *by = dae_arena_take(&w->scratch, leaves + 1, sizeof *by);
    if (is_fenced(w, side, 2, leaf, leaves)) return false;
    for (size_t t = 0; t < sizeof tries / sizeof *tries; t++) {
        ex_id now[2] = { side[0], side[1] };
        for (size_t l = 0; l < leaves; l++) by[l] = ex_number(w->g, tries[t]);
        put(w, now, 2, leaf, by, leaves);
        if (!has_values(w, now, 2)) continue;
        side[0] = now[0];
        side[1] = now[1];
        return true;
    }
    return false;
}

/* ---------------------------------------------------------------- parameters ------------ */

static void fix_parameter(regular *w, uint32_t v)
{
    flat_variable *x = &w->m->variable[v];
    ex_id from = x->binding;
    if (x->structural) return;
    x->structural = true;
    if (!from) return;
    ex_walk *walk = ex_walk_begin(w->g, &from, 1);
    for (size_t k = 0; k < walk->count; k++) {
        const ex_node *n = ex_at(w->g, walk->order[k]);
        if (n->op == EX_VARIABLE && n->b == 0) w->m->variable[n->a].structural = true;
    }
    ex_walk_end(w->g, walk);
}

/* Switches among the parameters of a row that was replaced keep their positions. */
static void fix_switches(regular *w, uint32_t row)
{
    ex_id root = regular_residual(w, row);
    ex_walk *walk = ex_walk_begin(w->g, &root, 1);
    uint32_t *v = dae_arena_take(&w->scratch, walk->count + 1, sizeof *v), count = 0;
    for (size_t k = 0; k < walk->count; k++) {
        const ex_node *n = ex_at(w->g, walk->order[k]);
        if (n->op != EX_VARIABLE || n->b > 0) continue;
        const flat_variable *x = &w->m->variable[n->a];
        if (x->type != EX_REAL && x->variability == FLAT_PARAMETER) v[count++] = n->a;
    }
    ex_walk_end(w->g, walk);
    for (uint32_t k = 0; k < count; k++) fix_parameter(w, v[k]);
}

bool regular_freeze(regular *w, const regular_block *b)
{
    uint32_t *v;
    size_t count = regular_culprits(w, b, &v);
    ex_id *leaf = dae_arena_take(&w->scratch, count + 1, sizeof *leaf);
    ex_id *by = dae_arena_take(&w->scratch, count + 1, sizeof *by);
    const char *words = "";
    if (count == 0) return false;
    for (size_t k = 0; k < count; k++) {
        double value = regular_parameter(w, v[k]);
        leaf[k] = ex_variable(w->g, v[k], 0, EX_REAL);
        by[k] = ex_number(w->g, value);
        fix_parameter(w, v[k]);
        words = dae_arena_print(w->arena, "%s%s%s = %.10g", words, k ? ", " : "",
                                w->m->variable[v[k]].name, value);
    }
    for (uint32_t i = 0; i < b->size; i++) {
        flat_equation *e = &w->m->equation[w->s.equation[b->row[i]]];
        put(w, &e->left, 1, leaf, by, count);
        put(w, &e->right, 1, leaf, by, count);
    }
    note(w, REGULAR_FREEZE, b)->words = words;
    return true;
}

/* ---------------------------------------------------------------- what cancels ---------- */

static bool vanishes(const regular_block *b, size_t entry)
{
    for (int p = 0; p < ALL_POINTS; p++)
        if (b->J[p] && b->J[p][entry] != 0) return false;
    return true;
}

bool regular_cancel(regular *w, const regular_block *b)
{
    bool changed = false;
    for (uint32_t i = 0; i < b->size; i++) {
        flat_equation *e = &w->m->equation[w->s.equation[b->row[i]]];
        ex_id *leaf = dae_arena_take(&w->scratch, b->size + 1, sizeof *leaf), side[2] = { e->left, e->right };
        size_t count = 0;
        if (b->bends[i]) continue;
        for (size_t k = w->s.start[b->row[i]]; k < w->s.start[b->row[i] + 1]; k++)
            for (uint32_t j = 0; j < b->size; j++)
                if (b->column[j] == w->s.column[k] && vanishes(b, (size_t)i * b->size + j) &&
                    w->s.order[k] + w->c[b->row[i]] == w->d[b->column[j]])
                    leaf[count++] = regular_leaf(w, b->row[i], b->column[j]);
        if (count == 0 || !remove_leaves(w, side, leaf, count)) continue;
        fix_switches(w, b->row[i]);
        regular_change *c = note(w, REGULAR_CANCEL, b);
        c->was = *e;
        e->left = side[0];
        e->right = side[1];
        c->now = *e;
        const char *words = "";
        for (size_t k = 0; k < count; k++)
            words = dae_arena_print(w->arena, "%s%s%s", words, k ? ", " : "",
                                    ex_print(w->g, leaf[k], flat_name, w->m, 60));
        c->words = words;
        changed = true;
    }
    return changed;
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
static const double *vector_of(const regular_null *u)
{
    for (int p = 0; p < ALL_POINTS; p++)
        if (u->value[p]) return u->value[p];
    return NULL;
}

/* Of the rows x columns entries those columns that make the rows regular but for one of them. */
static bool choose_columns(regular *w, const double *A, uint32_t count, uint32_t n, uint32_t *column)
{
    double *B = dae_arena_take(&w->scratch, (size_t)count * count + 1, sizeof *B), kept, dropped;
    uint32_t have = 0;
    for (uint32_t j = 0; j < n && have + 1 < count; j++) {
        column[have] = j;
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = 0; k <= have; k++)
                B[(size_t)i * (have + 1) + k] = A[(size_t)i * n + column[k]];
        if (regular_count_rank(&w->scratch, B, count, have + 1, &kept, &dropped) == have + 1) have++;
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
static bool find_factors(regular *w, const regular_block *b, const regular_null *u, bool right,
                         uint32_t one, ex_id *factor)
{
    uint32_t count = u->count, n = b->size;
    const double *value = vector_of(u);
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
            A[(size_t)i * n + j] = right ? J[(size_t)j * n + u->at[i]] : J[(size_t)u->at[i] * n + j];
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

/* Do these contain x_j only below the order d_j - level? Columns of the block that may reach it are
 * marked; those outside may unless `strict`. */
static bool stay_low(regular *w, const regular_block *b, const ex_id *e, size_t count, uint32_t level,
                     const bool *may_reach, bool strict)
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

/* ---------------------------------------------------------------- combination (LC) ------ */

typedef struct combination {
    uint32_t theta, replaced;    /* replaced: of the null vector's entries                    */
    ex_id *factor, *left, *right; /* sides of F_i^(c_i - theta)                               */
} combination;

/* The equation that goes: c = theta, the largest part of the sum, rather with a number for u. */
static uint32_t choose_row(const regular *w, const regular_block *b, const regular_null *u,
                           uint32_t *theta)
{
    uint32_t best = 0;
    const double *value = vector_of(u);
    *theta = UINT32_MAX;
    for (uint32_t k = 0; k < u->count; k++) {
        uint32_t c = w->c[b->row[u->at[k]]];
        if (c < *theta || (c == *theta && fabs(value[k]) > fabs(value[best]))) best = k;
        if (c < *theta) *theta = c;
    }
    return best;
}

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
static double safety(regular *w, ex_id factor)
{
    double start = fabs(regular_at_start(w, factor)), size = usual_size(w, factor);
    if (ex_is_number(w->g, factor, NULL)) return INFINITY;
    return isfinite(start) && size > 0 ? start / size : 0;
}

/* Where this is 0 the new equations do not imply the old ones. */
static void guard(regular *w, ex_id factor)
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

/* The row whose factor is a number, or farthest from 0 at the start. */
static uint32_t safest(regular *w, const regular_block *b, const regular_null *u, const combination *c)
{
    uint32_t best = c->replaced;
    double most = 0;
    for (uint32_t k = 0; k < u->count; k++) {
        double here = w->c[b->row[u->at[k]]] == c->theta ? safety(w, c->factor[k]) : 0;
        if (here <= most) continue;
        most = here;
        best = k;
    }
    return best;
}

static size_t list_leaves(regular *w, const ex_id *root, size_t roots, ex_id **out)
{
    ex_walk *walk = ex_walk_begin(w->g, root, roots);
    size_t count = 0;
    *out = dae_arena_take(&w->scratch, walk->count + 1, sizeof **out);
    for (size_t k = 0; k < walk->count; k++) {
        const ex_node *n = ex_at(w->g, walk->order[k]);
        if (n->op == EX_VARIABLE && w->s.column_of[n->a] != DAE_NOWHERE)
            (*out)[count++] = walk->order[k];
    }
    ex_walk_end(w->g, walk);
    return count;
}

/* Further leaves whose coefficients are nothing but rounding, where u are numbers. */
static size_t list_rounding(regular *w, const regular_null *u, const combination *c, ex_id *gone,
                            size_t count)
{
    ex_id *F = dae_arena_take(&w->scratch, u->count + 1, sizeof *F), *leaf;
    for (uint32_t k = 0; k < u->count; k++)
        F[k] = ex_binary(w->g, EX_SUBTRACT, c->left[k], c->right[k]);
    size_t leaves = list_leaves(w, F, u->count, &leaf);
    double *T[ALL_POINTS];
    unsigned char *stays = dae_arena_take(&w->scratch, leaves + 1, 1);
    bool known = false;
    regular_tangents(w, F, u->count, leaf, leaves, ALL_POINTS, T);
    for (int p = 0; p < ALL_POINTS; p++) {
        if (!u->value[p] || !T[p]) continue;
        known = true;
        for (size_t l = 0; l < leaves; l++) {
            double sum = 0, size = 0;
            for (uint32_t k = 0; k < u->count; k++) {
                sum += u->value[p][k] * T[p][k * leaves + l];
                size += fabs(u->value[p][k] * T[p][k * leaves + l]);
            }
            stays[l] |= !(fabs(sum) <= ROUNDING * size);
        }
    }
    for (size_t l = 0; known && l < leaves; l++) {
        bool there = stays[l];
        for (size_t k = 0; k < count && !there; k++) there = gone[k] == leaf[l];
        if (!there && !is_fenced(w, F, u->count, &leaf[l], 1)) gone[count++] = leaf[l];
    }
    return count;
}

static void add_up(regular *w, const regular_null *u, const combination *c, ex_id side[2])
{
    side[0] = side[1] = ex_number(w->g, 0);
    for (uint32_t k = 0; k < u->count; k++) {
        ex_id left = ex_binary(w->g, EX_MULTIPLY, c->factor[k], c->left[k]);
        ex_id right = ex_binary(w->g, EX_MULTIPLY, c->factor[k], c->right[k]);
        side[0] = ex_binary(w->g, EX_ADD, side[0], left);
        side[1] = ex_binary(w->g, EX_ADD, side[1], right);
    }
}

static const char *combination_words(regular *w, const regular_block *b, const regular_null *u,
                                     const combination *c)
{
    const char *text = "";
    for (uint32_t k = 0; k < u->count; k++) {
        uint32_t times = w->c[b->row[u->at[k]]] - c->theta;
        const char *of = times == 0 ? "" : times == 1 ? "the derivative of " : "";
        if (times > 1) of = dae_arena_print(w->arena, "derivative %u of ", (unsigned)times);
        text = dae_arena_print(w->arena, "%s      %s times %s%s\n", text,
                               ex_print(w->g, c->factor[k], flat_name, w->m, 60), of,
                               regular_equation(w->m, regular_row(w, b->row[u->at[k]]), 60));
    }
    return text;
}

static void deepen(regular *w, const regular_block *b, const regular_null *u, const combination *c,
                   uint32_t replaced)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < u->count; k++) {
        uint32_t e = w->s.equation[b->row[u->at[k]]];
        uint32_t here = (e < w->depths ? w->depth[e] : 0) + w->c[b->row[u->at[k]]] - c->theta;
        most = here > most ? here : most;
    }
    if (replaced < w->depths) w->depth[replaced] = most;
}

static bool combine(regular *w, const regular_block *b, const regular_null *u, regular_care care)
{
    combination c = { .factor = dae_arena_take(&w->scratch, u->count + 1, sizeof(ex_id)),
                      .left = dae_arena_take(&w->scratch, u->count + 1, sizeof(ex_id)),
                      .right = dae_arena_take(&w->scratch, u->count + 1, sizeof(ex_id)) };
    ex_id side[2];
    c.replaced = choose_row(w, b, u, &c.theta);
    if (!find_factors(w, b, u, false, c.replaced, c.factor)) return false;
    if (!u->constant && !stay_low(w, b, c.factor, u->count, c.theta, NULL, false)) return false;
    if (!u->constant) c.replaced = safest(w, b, u, &c);
    if (care == NOT_ZERO_AT_START && safety(w, c.factor[c.replaced]) < SAFE) return false;
    size_t gone = 0;
    for (uint32_t k = 0; k < u->count; k++) {
        ex_id both[2] = { regular_row(w, b->row[u->at[k]])->left,
                          regular_row(w, b->row[u->at[k]])->right };
        if (!differentiate(w, both, 2, w->c[b->row[u->at[k]]] - c.theta)) return false;
        c.left[k] = both[0];
        c.right[k] = both[1];
    }
    add_up(w, u, &c, side);
    ex_id *all, *leaf;
    size_t most = list_leaves(w, side, 2, &all);
    leaf = dae_arena_take(&w->scratch, most + b->size + 1, sizeof *leaf);
    for (uint32_t j = 0; j < b->size; j++)
        if (w->d[b->column[j]] >= c.theta)
            leaf[gone++] = ex_variable(w->g, w->s.variable[b->column[j]],
                                       w->d[b->column[j]] - c.theta, EX_REAL);
    if (u->constant) gone = list_rounding(w, u, &c, leaf, gone);
    if (!remove_leaves(w, side, leaf, gone)) return false;
    uint32_t replaced = w->s.equation[b->row[u->at[c.replaced]]];
    flat_equation *e = &w->m->equation[replaced];
    deepen(w, b, u, &c, replaced);
    for (uint32_t k = 0; k < u->count; k++) fix_switches(w, b->row[u->at[k]]);
    regular_change *change = note(w, REGULAR_COMBINE, b);
    change->words = combination_words(w, b, u, &c);
    guard(w, c.factor[c.replaced]);
    change->was = *e;
    e->left = side[0];
    e->right = side[1];
    change->now = *e;
    return true;
}

bool regular_combine(regular *w, const regular_block *b, regular_care care)
{
    regular_null *u;
    size_t count = regular_nulls(w, b, false, &u);
    for (size_t k = 0; k < count; k++)
        if (u[k].constant == (care == WITH_NUMBERS) && combine(w, b, &u[k], care)) return true;
    return false;
}

/* ---------------------------------------------------------------- substitution (ES) ----- */

/* The largest c of the rows of the block in which a column of R is tight; -1: d_j < C. */
static int highest_row(const regular *w, const regular_block *b, const regular_null *v)
{
    uint32_t C = 0;
    for (uint32_t i = 0; i < b->size; i++)
        for (size_t k = w->s.start[b->row[i]]; k < w->s.start[b->row[i] + 1]; k++)
            for (uint32_t q = 0; q < v->count; q++)
                if (w->s.column[k] == b->column[v->at[q]] &&
                    w->s.order[k] + w->c[b->row[i]] == w->d[w->s.column[k]] && w->c[b->row[i]] > C)
                    C = w->c[b->row[i]];
    for (uint32_t q = 0; q < v->count; q++)
        if (w->d[b->column[v->at[q]]] < C) return -1;
    return (int)C;
}

static uint32_t add_variable(regular *w, uint32_t column, uint32_t order)
{
    uint32_t from = w->s.variable[column];
    const char *leaf = ex_print(w->g, ex_variable(w->g, from, order, EX_REAL), flat_name, w->m, 60);
    flat_variable made = { .name = dae_arena_print(w->arena, "combination(%s)", leaf),
                           .type = EX_REAL, .variability = FLAT_CONTINUOUS, .fixed = -1,
                           .hidden = true, .place = w->m->variable[from].place };
    return flat_add_variable(w->m, &made);
}

typedef struct substitution {
    uint32_t C, l, count;        /* l: which of the null vector's entries                      */
    ex_id *ratio;                /* v_j / v_l                                                 */
    uint32_t *made;              /* the new variables                                         */
    ex_id *image;                /* y_j + (v_j / v_l) x_l^(d_l - C)                           */
} substitution;

static ex_id lead(regular *w, const regular_block *b, const regular_null *v, uint32_t q, uint32_t c)
{
    uint32_t j = b->column[v->at[q]];
    return ex_variable(w->g, w->s.variable[j], w->d[j] - c, EX_REAL);
}

/* A row of the block in the new variables; false: it cannot be. */
static bool rewrite_row(regular *w, const regular_block *b, const regular_null *v,
                        const substitution *s, uint32_t i, ex_id side[2])
{
    uint32_t c = w->c[b->row[i]], count = 0;
    ex_id *leaf = dae_arena_take(&w->scratch, v->count + 1, sizeof *leaf);
    ex_id *by = dae_arena_take(&w->scratch, v->count + 1, sizeof *by);
    side[0] = regular_row(w, b->row[i])->left;
    side[1] = regular_row(w, b->row[i])->right;
    if (c > s->C) return true; /* none of these columns is tight there */
    for (uint32_t q = 0; q < v->count; q++) {
        if (q == s->l) continue;
        ex_id image = s->image[q];
        if (!differentiate(w, &image, 1, s->C - c)) return false;
        leaf[count] = lead(w, b, v, q, c);
        by[count++] = image;
    }
    ex_id last = lead(w, b, v, s->l, c);
    if (is_fenced(w, side, 2, leaf, count) || is_fenced(w, side, 2, &last, 1)) return false;
    put(w, side, 2, leaf, by, count);
    return remove_leaves(w, side, &last, 1);
}

static bool substitute(regular *w, const regular_block *b, const regular_null *v, regular_care care)
{
    int C = highest_row(w, b, v);
    const double *value = vector_of(v);
    if (C < 0 || v->count < 2) return false;
    substitution s = { .C = (uint32_t)C,
                       .ratio = dae_arena_take(&w->scratch, v->count + 1, sizeof(ex_id)),
                       .made = dae_arena_take(&w->scratch, v->count + 1, sizeof(uint32_t)),
                       .image = dae_arena_take(&w->scratch, v->count + 1, sizeof(ex_id)) };
    for (uint32_t q = 0; q < v->count; q++)
        if (fabs(value[q]) > fabs(value[s.l])) s.l = q;
    if (!find_factors(w, b, v, true, s.l, s.ratio)) return false;
    bool *may = dae_arena_take(&w->scratch, b->size + 1, sizeof *may);
    for (uint32_t j = 0; j < b->size; j++) may[j] = true;
    for (uint32_t q = 0; q < v->count; q++) may[v->at[q]] = false;
    if (!v->constant && !stay_low(w, b, s.ratio, v->count, s.C, may, true)) return false;
    for (uint32_t q = 0; !v->constant && q < v->count; q++)
        if (safety(w, s.ratio[q]) > safety(w, s.ratio[s.l])) s.l = q;
    if (care == NOT_ZERO_AT_START && safety(w, s.ratio[s.l]) < SAFE) return false;
    size_t variables = w->m->variables;
    ex_id by = s.ratio[s.l], x_l = lead(w, b, v, s.l, s.C);
    for (uint32_t q = 0; q < v->count; q++) {
        if (q == s.l) continue;
        if (!v->constant) s.ratio[q] = ex_binary(w->g, EX_DIVIDE, s.ratio[q], by);
        s.made[q] = add_variable(w, b->column[v->at[q]], w->d[b->column[v->at[q]]] - s.C);
        s.image[q] = ex_binary(w->g, EX_ADD, ex_variable(w->g, s.made[q], 0, EX_REAL),
                               ex_binary(w->g, EX_MULTIPLY, s.ratio[q], x_l));
    }
    regular_open_points(w);
    ex_id *side = dae_arena_take(&w->scratch, 2 * (size_t)b->size + 1, sizeof *side);
    for (uint32_t i = 0; i < b->size; i++)
        if (!rewrite_row(w, b, v, &s, i, side + 2 * i)) {
            w->m->variables = variables;
            return false;
        }
    const char *words = "";
    for (uint32_t i = 0; i < b->size; i++) {
        flat_equation *e = &w->m->equation[w->s.equation[b->row[i]]];
        fix_switches(w, b->row[i]);
        e->left = side[2 * i];
        e->right = side[2 * i + 1];
    }
    for (uint32_t q = 0; q < v->count; q++) {
        if (q == s.l) continue;
        flat_equation like = *regular_row(w, b->row[0]);
        flat_add_equation(w->m, s.image[q], lead(w, b, v, q, s.C), like.place, "");
        words = dae_arena_print(w->arena, "%s      %s\n", words,
                                regular_equation(w->m, &w->m->equation[w->m->equations - 1], 120));
    }
    note(w, REGULAR_SUBSTITUTE, b)->words = words;
    guard(w, by);
    return true;
}

bool regular_substitute(regular *w, const regular_block *b, regular_care care)
{
    regular_null *v;
    size_t count = regular_nulls(w, b, true, &v);
    for (size_t k = 0; k < count; k++)
        if (v[k].constant == (care == WITH_NUMBERS) && substitute(w, b, &v[k], care)) return true;
    return false;
}
