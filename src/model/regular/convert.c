/* convert.c: equations in an equivalent form whose structure shows more.
 *
 * What all of them rest on: where an expression does not depend on a leaf, though the leaf
 * occurs in it, any number may be put there. So nothing has to be expanded or simplified to make
 * a derivative vanish that cancels; it is replaced by 0.
 *
 * Combination (LC): u J = 0 for a block of J; L the rows with u_i != 0, theta = min c_i over L.
 * In
 *
 *     sum over L of u_i F_i^(c_i - theta)
 *
 * the x_j^(d_j - theta) of the block cancel, if u itself contains x_j only below that order. It
 * takes the place of a row l of L with c_l = theta, which follows from it where u_l != 0.
 * (Columns of other blocks may stay: a row that is tight only outside its block cannot be
 * matched any more, and so the value of the signature matrix falls.)
 *
 * Substitution (ES): J v = 0; R the columns with v_j != 0, C = max c_i over the rows of the
 * block in which they are tight, l in R. With new variables y_j = x_j^(d_j - C) - (v_j / v_l)
 * x_l^(d_l - C) for j in R but l, every x_j^(d_j - c_i) in the rows of the block becomes (y_j +
 * (v_j / v_l) x_l^(d_l - C))^(C - c_i): then x_l^(d_l - c_i) cancels there. v must not contain
 * x_j to the order d_j - C or above (j in R or outside the block), and d_j >= C is needed.
 *
 * u and v are numbers if they are the same at all points, else minors of J. Numbers come first,
 * and expressions that are not 0 with the start values before others: u_l = 0 or v_l = 0 at a
 * point makes the new equations weaker than the old ones (a pendulum at rest whose angular
 * momentum was a factor stays where it is). So every such factor is watched while integrating
 * (flat_model's guards).
 */
#include "model/regular/object.h"

#include "expression/walk.h"

#include <math.h>
#include <string.h>

/* Characters of the name of a combination. */
enum { LONGEST = 60 };

/* A coefficient of a combination that is below this part of its summands is rounding. */
static const double ROUNDING = 1e-12;

/* A factor is not 0 at the start if it is at least this part of what it is elsewhere: start
 * values are guesses. */
static const double SAFE = 1e-2;

/* ---------------------------------------------------------------- the model ------------- */

static regular_change *note(regular *w, regular_kind kind, const regular_block *b)
{
    flat_regular *o = w->out;
    o->change =
        dae_arena_grow(w->arena, o->change, o->changes, &w->change_capacity, sizeof *o->change);
    o->change[o->changes] =
        (regular_change){ .kind = kind, .size = b->size, .rank = b->rank, .words = "" };
    if (b->rank) o->kept = fmin(o->kept, b->kept);
    o->dropped = fmax(o->dropped, b->dropped);
    return &o->change[o->changes++];
}

/* ---------------------------------------------------------------- parameters ------------ */

/* Parameters that these expressions contain. */
static size_t list_parameters(regular *w, ex_id root, uint32_t **out)
{
    ex_walk *walk = ex_walk_begin(w->g, &root, 1);
    size_t count = 0;
    *out = dae_arena_take(&w->scratch, walk->count + 1, sizeof **out);
    for (size_t k = 0; k < walk->count; k++) {
        const ex_node *n = ex_at(w->g, walk->order[k]);
        if (n->op == EX_VARIABLE && n->b == 0 && w->m->variable[n->a].variability == FLAT_PARAMETER)
            (*out)[count++] = n->a;
    }
    ex_walk_end(w->g, walk);
    return count;
}

/* It keeps its value, and so does all that this depends on. */
static void fix_parameter(regular *w, uint32_t v)
{
    flat_variable *x = &w->m->variable[v];
    uint32_t *below;
    if (x->structural) return;
    x->structural = true;
    size_t count = x->binding ? list_parameters(w, x->binding, &below) : 0;
    for (size_t k = 0; k < count; k++) fix_parameter(w, below[k]);
}

/* Switches among the parameters of a row that was replaced keep their positions. */
static void fix_switches(regular *w, uint32_t row)
{
    uint32_t *v;
    size_t count = list_parameters(w, regular_residual(w, row), &v);
    for (size_t k = 0; k < count; k++)
        if (w->m->variable[v[k]].type != EX_REAL) fix_parameter(w, v[k]);
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
        regular_put(w, &e->left, 1, leaf, by, count);
        regular_put(w, &e->right, 1, leaf, by, count);
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
        ex_id *leaf = dae_arena_take(&w->scratch, b->size + 1, sizeof *leaf),
              side[2] = { e->left, e->right };
        size_t count = 0;
        if (b->bends[i]) continue;
        for (size_t k = w->s.start[b->row[i]]; k < w->s.start[b->row[i] + 1]; k++)
            for (uint32_t j = 0; j < b->size; j++)
                if (b->column[j] == w->s.column[k] && vanishes(b, (size_t)i * b->size + j) &&
                    w->s.order[k] + w->c[b->row[i]] == w->d[b->column[j]])
                    leaf[count++] = regular_leaf(w, b->row[i], b->column[j]);
        if (count == 0 || !regular_remove_leaves(w, side, leaf, count)) continue;
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

/* ---------------------------------------------------------------- combination (LC) ------ */

typedef struct combination {
    uint32_t theta, replaced;     /* replaced: of the null vector's entries */
    ex_id *factor, *left, *right; /* sides of F_i^(c_i - theta) */
} combination;

/* The equation that goes: c = theta, the largest part of the sum, rather with a number for u. */
static uint32_t choose_row(const regular *w, const regular_block *b, const regular_null *u,
                           uint32_t *theta)
{
    uint32_t best = 0;
    const double *value = regular_vector(u);
    *theta = UINT32_MAX;
    for (uint32_t k = 0; k < u->count; k++) {
        uint32_t c = w->c[b->row[u->at[k]]];
        if (c < *theta || (c == *theta && fabs(value[k]) > fabs(value[best]))) best = k;
        if (c < *theta) *theta = c;
    }
    return best;
}

/* The row whose factor is a number, or farthest from 0 at the start. */
static uint32_t safest(regular *w, const regular_block *b, const regular_null *u,
                       const combination *c)
{
    uint32_t best = c->replaced;
    double most = 0;
    for (uint32_t k = 0; k < u->count; k++) {
        double here = w->c[b->row[u->at[k]]] == c->theta ? regular_safety(w, c->factor[k]) : 0;
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
        if (!there && !regular_is_fenced(w, F, u->count, &leaf[l], 1)) gone[count++] = leaf[l];
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

static bool combine(regular *w, const regular_block *b, const regular_null *u, regular_care care,
                    bool *rows_replaced)
{
    combination c = { .factor = dae_arena_take(&w->scratch, u->count + 1, sizeof(ex_id)),
                      .left = dae_arena_take(&w->scratch, u->count + 1, sizeof(ex_id)),
                      .right = dae_arena_take(&w->scratch, u->count + 1, sizeof(ex_id)) };
    ex_id side[2];
    c.replaced = choose_row(w, b, u, &c.theta);
    if (!regular_factors(w, b, u, false, c.replaced, c.factor)) return false;
    if (!u->constant && !regular_stays_low(w, b, c.factor, u->count, c.theta, NULL, false))
        return false;
    if (!u->constant) c.replaced = safest(w, b, u, &c);
    if (care == NOT_ZERO_AT_START && regular_safety(w, c.factor[c.replaced]) < SAFE) return false;
    size_t gone = 0;
    for (uint32_t k = 0; k < u->count; k++) {
        ex_id both[2] = { regular_row(w, b->row[u->at[k]])->left,
                          regular_row(w, b->row[u->at[k]])->right };
        if (!regular_differentiate(w, both, 2, w->c[b->row[u->at[k]]] - c.theta)) return false;
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
    if (!regular_remove_leaves(w, side, leaf, gone)) return false;
    uint32_t replaced = w->s.equation[b->row[u->at[c.replaced]]];
    flat_equation *e = &w->m->equation[replaced];
    deepen(w, b, u, &c, replaced);
    rows_replaced[u->at[c.replaced]] = true;
    for (uint32_t k = 0; k < u->count; k++) fix_switches(w, b->row[u->at[k]]);
    regular_change *change = note(w, REGULAR_COMBINE, b);
    change->words = combination_words(w, b, u, &c);
    regular_guard(w, c.factor[c.replaced]);
    change->was = *e;
    e->left = side[0];
    e->right = side[1];
    change->now = *e;
    return true;
}

/* Several at once, as long as none of their equations has been replaced before. */
bool regular_combine(regular *w, const regular_block *b, regular_care care)
{
    regular_null *u;
    bool changed = false;
    size_t count = regular_nulls(w, b, false, &u);
    bool *replaced = dae_arena_take(&w->scratch, b->size + 1, sizeof *replaced);
    for (size_t k = 0; k < count; k++) {
        bool may = u[k].constant == (care == WITH_NUMBERS);
        for (uint32_t i = 0; i < u[k].count; i++) may = may && !replaced[u[k].at[i]];
        if (!may || !combine(w, b, &u[k], care, replaced)) continue;
        changed = true;
    }
    return changed;
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

/* y = x_j - r x_l is named by what it is, so that equations with it read as they are; where r is long,
 * by what it is made of. */
static const char *combined_name(regular *w, ex_id x_j, ex_id x_l, ex_id ratio)
{
    ex_id whole = ex_binary(w->g, EX_SUBTRACT, x_j, ex_binary(w->g, EX_MULTIPLY, ratio, x_l));
    const char *text = ex_print(w->g, whole, flat_name, w->m, LONGEST);
    if (!strstr(text, "...")) return dae_arena_print(w->arena, "(%s)", text);
    const char *other = ex_print(w->g, x_l, flat_name, w->m, 0);
    return dae_arena_print(w->arena, "(%s less a multiple of %s)",
                           ex_print(w->g, x_j, flat_name, w->m, 0), other);
}

static uint32_t add_variable(regular *w, ex_id x_j, ex_id x_l, ex_id ratio)
{
    uint32_t from = ex_at(w->g, x_j)->a;
    flat_variable made = { .name = combined_name(w, x_j, x_l, ratio),
                           .type = EX_REAL,
                           .variability = FLAT_CONTINUOUS,
                           .fixed = -1,
                           .hidden = true,
                           .combined = true,
                           .place = w->m->variable[from].place };
    return flat_add_variable(w->m, &made);
}

static ex_id start_of(regular *w, uint32_t v)
{
    ex_id start = w->m->variable[v].start;
    return start ? start : ex_number(w->g, 0);
}

/* y = x_j - r x_l begins where the start values of these are; 0: no such value. */
static ex_id combined_start(regular *w, ex_id x_j, ex_id x_l, ex_id ratio)
{
    const ex_node j = *ex_at(w->g, x_j), l = *ex_at(w->g, x_l);
    ex_id *leaf, factor = ratio;
    if (j.op != EX_VARIABLE || l.op != EX_VARIABLE || j.b != 0 || l.b != 0) return 0;
    if (!w->m->variable[j.a].start && !w->m->variable[l.a].start) return 0;
    size_t leaves = list_leaves(w, &factor, 1, &leaf);
    ex_id *by = dae_arena_take(&w->scratch, leaves + 1, sizeof *by);
    for (size_t k = 0; k < leaves; k++) {
        const ex_node *n = ex_at(w->g, leaf[k]);
        if (n->op != EX_VARIABLE || n->b != 0) return 0;
        by[k] = start_of(w, n->a);
    }
    regular_put(w, &factor, 1, leaf, by, leaves);
    return ex_binary(w->g, EX_SUBTRACT, start_of(w, j.a),
                     ex_binary(w->g, EX_MULTIPLY, factor, start_of(w, l.a)));
}

typedef struct substitution {
    uint32_t C, l, count; /* l: which of the null vector's entries */
    ex_id *ratio;         /* v_j / v_l */
    uint32_t *made;       /* the new variables */
    ex_id *image;         /* y_j + (v_j / v_l) x_l^(d_l - C) */
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
        if (!regular_differentiate(w, &image, 1, s->C - c)) return false;
        leaf[count] = lead(w, b, v, q, c);
        by[count++] = image;
    }
    ex_id last = lead(w, b, v, s->l, c);
    if (regular_is_fenced(w, side, 2, leaf, count) || regular_is_fenced(w, side, 2, &last, 1))
        return false;
    regular_put(w, side, 2, leaf, by, count);
    return regular_remove_leaves(w, side, &last, 1);
}

static bool substitute(regular *w, const regular_block *b, const regular_null *v, regular_care care)
{
    int C = highest_row(w, b, v);
    const double *value = regular_vector(v);
    if (C < 0 || v->count < 2) return false;
    substitution s = { .C = (uint32_t)C,
                       .ratio = dae_arena_take(&w->scratch, v->count + 1, sizeof(ex_id)),
                       .made = dae_arena_take(&w->scratch, v->count + 1, sizeof(uint32_t)),
                       .image = dae_arena_take(&w->scratch, v->count + 1, sizeof(ex_id)) };
    for (uint32_t q = 0; q < v->count; q++)
        if (fabs(value[q]) > fabs(value[s.l])) s.l = q;
    if (!regular_factors(w, b, v, true, s.l, s.ratio)) return false;
    bool *may = dae_arena_take(&w->scratch, b->size + 1, sizeof *may);
    for (uint32_t j = 0; j < b->size; j++) may[j] = true;
    for (uint32_t q = 0; q < v->count; q++) may[v->at[q]] = false;
    if (!v->constant && !regular_stays_low(w, b, s.ratio, v->count, s.C, may, true)) return false;
    for (uint32_t q = 0; !v->constant && q < v->count; q++)
        if (regular_safety(w, s.ratio[q]) > regular_safety(w, s.ratio[s.l])) s.l = q;
    if (care == NOT_ZERO_AT_START && regular_safety(w, s.ratio[s.l]) < SAFE) return false;
    size_t variables = w->m->variables;
    ex_id by = s.ratio[s.l], x_l = lead(w, b, v, s.l, s.C);
    for (uint32_t q = 0; q < v->count; q++) {
        if (q == s.l) continue;
        if (!v->constant) s.ratio[q] = ex_binary(w->g, EX_DIVIDE, s.ratio[q], by);
        ex_id x_j = lead(w, b, v, q, s.C);
        s.made[q] = add_variable(w, x_j, x_l, s.ratio[q]);
        w->m->variable[s.made[q]].start = combined_start(w, x_j, x_l, s.ratio[q]);
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
        words = dae_arena_print(w->arena, "%s      %s\n", words, w->m->variable[s.made[q]].name);
    }
    note(w, REGULAR_SUBSTITUTE, b)->words = words;
    regular_guard(w, by);
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
