/* conflict.c: why there are no initial values: the smallest set of conditions that contradict.
 *
 * Suspect is what failed, a redundant condition that does not hold or a loop without a solution,
 * and all that its unknowns follow from: equations, initial equations and fixed start values,
 * reached over the matching. A set of conditions is tried by least squares (trust.h) from several
 * points, in all its unknowns, whatever its shape. If all suspects together can be satisfied there
 * is no contradiction, and the point found is where the solver begins once more.
 *
 * Otherwise a deletion filter: halves, quarters, ... and at last single conditions are left out;
 * what can be left out while the rest stays without solution does not return. What remains has the
 * property that without any one of its members the others can be satisfied.
 *
 * Equations are there in any case; what is given, initial equations and fixed values, can be taken
 * away. So a set is the smaller the less of that is in it, and then the fewer equations. Equations
 * are left out first, which is quick, and from what is left of the given everything is left out
 * again that all equations together contradict without it: F = 20 and x = 0.6 cannot hold with a
 * derivative of x^2 + y^2 = 1, but F = 20 can not without x = 0.6 either, with the circle itself.
 *
 * There may be several such sets. Another one lacks a member of the first: so each member is left
 * out in turn, and if the others still contradict each other the filter shrinks them; a smaller set
 * takes the place of the first, and the search begins again. Where there is no other, taking away
 * one of the given in it is enough for the whole case; otherwise it is said which one is, or what
 * else contradicts.
 *
 * Least squares may end in a local minimum where there is a solution elsewhere; so what remains is
 * tried from more points before it is called a contradiction, and unless all of it is linear the
 * words are only that no solution was found.
 */
#include "model/start/initial.h"
#include "model/loop/trust.h"

#include "expression/walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 150,
    SHOWN = 8,
    BUDGET = 600,
    MOST_TRIALS = 4000,
    SMALL = 60,
    SMALL_TRIALS = 2000, /* where a smaller set is looked for */
    POINTS = 40,         /* where something held: at most so many are kept */
    SEARCHES = 4         /* with the points of those before */
};

typedef enum effort { QUICK, THOROUGH } effort;

static const double HUGE_IS = 1e3; /* where something is infinite but for rounding */

typedef struct suspects {
    model *m;
    const initial_rows *all;
    uint32_t *row;         /* numbers of initial rows, the nearest to the failure first */
    int rows, first, core; /* first: those that have to do with the first failure; core:
                                    with any; behind these all that shares unknowns with them */
    uint32_t *slot;        /* of the unknowns */
    uint32_t *input;       /* ... as inputs of the unit; NOWHERE */
    int unknowns;
    bool active[MOST];
    double *guess, *failed, *u, *r, *size, *low, *high;
    double *point[POINTS]; /* where something held, the last one at (points - 1) % POINTS */
    int points;
    double *kept; /* the slots before */
    int trials;
} suspects;

/* ---------------------------------------------------------------- who ------------------- */

static void add_suspect(suspects *s, unsigned char *seen, uint32_t row)
{
    if (row == NOWHERE || row >= s->all->must || seen[row]) return;
    seen[row] = 1;
    if (!model_is_real(s->m, &s->all->list.item[row])) return;
    s->row[s->rows++] = row;
}

/* All that the unknowns of the suspects from number `from` on follow from. */
static void follow(suspects *s, unsigned char *seen, int from)
{
    const initial_rows *all = s->all;
    for (int k = from; k < s->rows; k++)
        for (size_t e = all->in.start[s->row[k]]; e < all->in.start[s->row[k] + 1]; e++)
            add_suspect(s, seen, all->matching.row_of[all->in.column[e]]);
}

/* A loop as a whole; of a run of assignments only the one that failed. */
static void add_failed(suspects *s, unsigned char *seen, const model_step *f)
{
    const uint32_t *origin = s->all->origin, culprit = s->m->init.culprit;
    if (culprit != NOWHERE) {
        add_suspect(s, seen, origin[culprit]);
        return;
    }
    for (uint32_t i = 0; i < f->assigned; i++)
        add_suspect(s, seen, origin[f->assigned_equation[i]]);
    for (uint32_t i = 0; i < f->torn; i++) add_suspect(s, seen, origin[f->residual_equation[i]]);
}

/* Everything that shares unknowns with the suspects, and so on; nothing if that is too much.
 * Nothing of it failed, but without a member of what is found first some of it may. */
static void add_neighbours(suspects *s, unsigned char *seen)
{
    const initial_rows *all = s->all;
    unsigned char *known = dae_arena_take(&s->m->arena, all->in.s.columns + 1, 1);
    for (int done = 0; done < s->rows && s->rows <= SMALL;) {
        for (; done < s->rows; done++)
            for (size_t e = all->in.start[s->row[done]]; e < all->in.start[s->row[done] + 1]; e++)
                known[all->in.column[e]] = 1;
        for (uint32_t i = 0; i < all->must; i++) {
            bool touches = false;
            for (size_t e = all->in.start[i]; e < all->in.start[i + 1] && !touches; e++)
                touches = known[all->in.column[e]];
            if (touches) add_suspect(s, seen, i);
        }
    }
    if (s->rows > SMALL) s->rows = s->core;
}

/* What has to do with the first failure comes first. */
static bool find_suspects(suspects *s)
{
    const initial_rows *all = s->all;
    unsigned char *seen = dae_arena_take(&s->m->arena, all->list.count + 1, 1);
    s->row = dae_arena_take(&s->m->arena, all->list.count + 1, sizeof *s->row);
    if (s->m->init.failed) {
        add_failed(s, seen, s->m->init.failed);
        follow(s, seen, 0);
        s->first = s->rows;
    }
    for (size_t i = 0; !s->m->init.failed && i < all->violations; i++) {
        int from = s->rows;
        add_suspect(s, seen, all->spare[all->violated[i]]);
        follow(s, seen, from);
        if (i == 0) s->first = s->rows;
    }
    int reached = s->rows;
    for (size_t i = 0; i < s->m->redundant.count; i++) { /* other conditions that are too many */
        int from = s->rows;
        add_suspect(s, seen, all->spare[i]);
        follow(s, seen, from);
    }
    if (s->rows > MOST) s->rows = reached;
    s->core = s->rows;
    if (s->rows <= SMALL) add_neighbours(s, seen);
    return s->rows > 0 && s->rows <= MOST;
}

static void find_unknowns(suspects *s)
{
    model *m = s->m;
    const initial_rows *all = s->all;
    unsigned char *seen = dae_arena_take(&m->arena, all->in.s.columns + 1, 1);
    s->slot = dae_arena_take(&m->arena, all->in.s.columns + 1, sizeof *s->slot);
    for (int k = 0; k < s->rows; k++)
        for (size_t e = all->in.start[s->row[k]]; e < all->in.start[s->row[k] + 1]; e++) {
            uint32_t j = all->in.column[e], slot = all->in.slot[j];
            if (seen[j] || m->variable[slot_variable(slot)].type != EX_REAL) continue;
            seen[j] = 1;
            s->slot[s->unknowns++] = slot;
        }
}

/* ---------------------------------------------------------------- numbers --------------- */

static dae_status compile_suspects(suspects *s)
{
    model *m = s->m;
    ex_id *output = dae_arena_take(&m->arena, (size_t)s->rows + 1, sizeof *output);
    for (int k = 0; k < s->rows; k++) {
        const model_equation *e = &s->all->list.item[s->row[k]];
        output[k] = ex_binary(m->g, EX_SUBTRACT, e->left, e->right);
    }
    dae_status status = unit_open(m, &m->suspects, output, (size_t)s->rows);
    if (status == DAE_OK) status = unit_tangents(m, &m->suspects);
    if (status != DAE_OK) return status;
    s->input = dae_arena_take(&m->arena, (size_t)s->unknowns + 1, sizeof *s->input);
    for (int j = 0; j < s->unknowns; j++) {
        s->input[j] = NOWHERE;
        for (uint32_t i = 0; i < m->suspects.ins; i++)
            if (m->suspects.slot[i] == s->slot[j]) s->input[j] = i;
    }
    return DAE_OK;
}

static void find_sizes(suspects *s)
{
    model *m = s->m;
    size_t n = (size_t)s->unknowns + 1;
    double **vector[] = { &s->guess, &s->failed, &s->u, &s->size, &s->low, &s->high };
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        *vector[k] = dae_arena_take(&m->arena, n, sizeof(double));
    s->r = dae_arena_take(&m->arena, (size_t)s->rows + 1, sizeof *s->r);
    s->kept = dae_arena_take(&m->arena, m->slots, sizeof *s->kept);
    memcpy(s->kept, m->value, m->slots * sizeof *s->kept);
    for (int j = 0; j < s->unknowns; j++) {
        uint32_t slot = s->slot[j], v = slot_variable(slot);
        const model_variable *x = &m->variable[v];
        bool rate = slot_is_derivative(slot);
        double nominal = rate || x->nominal_value == 0 ? 1 : fabs(x->nominal_value);
        s->low[j] = rate ? -INFINITY : x->min_value;
        s->high[j] = rate ? INFINITY : x->max_value;
        s->guess[j] = rate ? 0 : fmin(fmax(m->value[slot_of(v, 2)], s->low[j]), s->high[j]);
        s->failed[j] = isfinite(m->value[slot]) ? m->value[slot] : s->guess[j];
        s->size[j] = fmax(fabs(s->guess[j]), nominal);
        if (!m->init.decided)
            continue; /* y^2 = 0, y v = 1: but for rounding 1e-8 and 1e8 will do */
        s->low[j] = fmax(s->low[j], -HUGE_IS * s->size[j]);
        s->high[j] = fmin(s->high[j], HUGE_IS * s->size[j]);
    }
}

static int residuals(void *user, const double *u, double *r)
{
    suspects *s = user;
    int at = 0;
    for (int j = 0; j < s->unknowns; j++) s->m->value[s->slot[j]] = u[j];
    if (unit_run(s->m, &s->m->suspects) != DAE_OK) return DAE_RETRY;
    for (int k = 0; k < s->rows; k++)
        if (s->active[k]) r[at++] = s->m->suspects.out[k];
    return DAE_OK;
}

static int jacobian(void *user, double *J)
{
    suspects *s = user;
    model_unit *u = &s->m->suspects;
    int rows = 0;
    for (int k = 0; k < s->rows; k++) rows += s->active[k];
    for (int first = 0; first < s->unknowns; first += EX_LANES) {
        int lanes = s->unknowns - first < EX_LANES ? s->unknowns - first : EX_LANES;
        memset(u->in_tangent, 0, u->ins * EX_LANES * sizeof(double));
        for (int l = 0; l < lanes; l++)
            if (s->input[first + l] != NOWHERE)
                u->in_tangent[s->input[first + l] * EX_LANES + (size_t)l] = 1;
        if (ex_run_tangents(u->machine, u->in, u->in_tangent, u->out, u->out_tangent) != DAE_OK)
            return DAE_RETRY;
        for (int l = 0; l < lanes; l++)
            for (int k = 0, at = 0; k < s->rows; k++)
                if (s->active[k])
                    J[(size_t)at++ + (size_t)(first + l) * (size_t)rows] =
                        u->out_tangent[(size_t)k * EX_LANES + (size_t)l];
    }
    return DAE_OK;
}

/* A number between -1 and 1, the same whenever it is asked for. */
static double scatter(int start, int j)
{
    double x = 4096 * sin(12.9898 * start + 78.233 * j + 0.5);
    return 2 * (x - floor(x)) - 1;
}

/* Where trial number `start` begins: at the guesses, where the solver failed, where other
 * conditions held; beside the guesses, on the other side of zero, at parts of them; scattered,
 * signs too, nearer and farther away. */
static void choose_start(const suspects *s, int start)
{
    static const double part[] = { 1, 1, 1, 1, 1, 0, 0.01, -1e-4 };
    static const double aside[] = { 0, 0, 0, 1.5, -1.5, 0, 0.3, -1e-5 };
    static const double far[] = { 1, 3, 0.3, 10 };
    bool good = start == 2 && s->points > 0;
    const double *from = start == 1 ? s->failed
                         : good     ? s->point[(s->points - 1) % POINTS]
                                    : s->guess;
    for (int j = 0; j < s->unknowns; j++) {
        double times = start < 8 ? part[start] : scatter(start, j) > 0 ? 1 : -1;
        double by = start < 8 ? aside[start] : far[start % 4] * scatter(start + 100, j);
        s->u[j] = fmin(fmax(times * from[j] + by * s->size[j], s->low[j]), s->high[j]);
    }
}

static trust_end try_from_u(suspects *s, int rows, int budget)
{
    trust_problem p = { .rows = rows,
                        .columns = s->unknowns,
                        .evaluate = residuals,
                        .jacobian = jacobian,
                        .size = s->size,
                        .low = s->low,
                        .high = s->high,
                        .user = s,
                        .budget = budget };
    return trust_solve(&p, &s->m->memory, s->u, s->r);
}

/* Do they hold at a point that is known? */
static bool hold_somewhere(suspects *s, int rows)
{
    int kept = s->points < POINTS ? s->points : POINTS;
    for (int k = 0; k < kept; k++) {
        memcpy(s->u, s->point[k], (size_t)s->unknowns * sizeof *s->u);
        if (try_from_u(s, rows, 1) == TRUST_SOLVED) return true;
    }
    return false;
}

static void keep_point(suspects *s)
{
    double **to = &s->point[s->points++ % POINTS];
    size_t n = (size_t)s->unknowns;
    if (!*to) *to = dae_arena_take(&s->m->arena, n + 1, sizeof **to);
    memcpy(*to, s->u, n * sizeof **to);
}

/* Can the active conditions hold together? Leaves the point in the slots. */
static bool can_hold(suspects *s, effort e)
{
    int rows = 0, starts = s->rows > SMALL ? 8 : 12;
    for (int k = 0; k < s->rows; k++) rows += s->active[k];
    if (rows == 0) return true;
    bool found = hold_somewhere(s, rows), known = found;
    if (e == THOROUGH) starts *= 3;
    for (int start = 0; start < starts && !found && s->trials < MOST_TRIALS; start++) {
        if (start == 2 && s->points == 0) continue;
        choose_start(s, start);
        s->trials++;
        found = try_from_u(s, rows, BUDGET) == TRUST_SOLVED;
    }
    if (found && !known) keep_point(s);
    if (found) residuals(s, s->u, s->r);
    return found;
}

/* Where all hold: which of them follow from others? Those of lower number, equations first,
 * determine. Nothing is marked if not as many determine something as structure had hoped for. */
static void mark_dependent(suspects *s)
{
    model *m = s->m;
    int order[MOST], hoped = 0;
    unsigned char follows[MOST];
    size_t entries = (size_t)s->rows * (size_t)s->unknowns;
    initial_rows *all = m->initial_rows;
    double *J = dae_arena_take(&m->arena, entries + 1, sizeof *J);
    all->follows = NULL;
    for (int k = 0; k < s->rows; k++) {
        int at = k;
        for (; at > 0 && s->row[order[at - 1]] > s->row[k]; at--) order[at] = order[at - 1];
        order[at] = k;
        hoped += all->matching.column_of[s->row[k]] != NOWHERE;
    }
    if (m->redundant.count == 0 || jacobian(s, J) != DAE_OK) return;
    if (dependent_rows(J, s->rows, s->unknowns, s->size, order, follows) < hoped) return;
    all->follows = dae_arena_take(&m->arena, all->list.count + 1, 1);
    for (int k = 0; k < s->rows; k++) all->follows[s->row[k]] = follows[k];
}

/* ---------------------------------------------------------------- the filter ------------ */

enum { EQUATION, GIVEN, FIXED }; /* given: an initial equation, or a fixed value */

static int ease(const suspects *s, int k)
{
    const model_equation *e = &s->all->list.item[s->row[k]];
    if (e->condition != NOWHERE) return FIXED;
    return strcmp(e->role, "initial equation") ? EQUATION : GIVEN;
}

/* Those of two kinds in the order in which they are tried: equations first, the farthest first. */
static int list_order(const suspects *s, int *order, int from, int to)
{
    int count = 0;
    for (int kind = from; kind <= to; kind++)
        for (int k = s->rows - 1; k >= 0; k--)
            if (s->active[k] && ease(s, k) == kind) order[count++] = k;
    return count;
}

/* Leaves out what the contradiction does not need, of the kinds `from` to `to`. */
static void filter(suspects *s, int from, int to)
{
    int order[MOST], count = list_order(s, order, from, to);
    for (int chunk = (count + 1) / 2; chunk >= 1; chunk = chunk == 1 ? 0 : (chunk + 1) / 2) {
        for (int first = 0; first < count; first += chunk) {
            int last = first + chunk < count ? first + chunk : count;
            for (int i = first; i < last; i++) s->active[order[i]] = false;
            if (can_hold(s, QUICK))
                for (int i = first; i < last; i++) s->active[order[i]] = true;
        }
        count = list_order(s, order, from, to);
    }
}

static int count_active(const suspects *s, int from, int to)
{
    int count = 0;
    for (int k = 0; k < s->rows; k++)
        count += s->active[k] && ease(s, k) >= from && ease(s, k) <= to;
    return count;
}

/* What is given counts before equations. */
static bool is_smaller(const suspects *s, const bool *than)
{
    int given = 0, members = 0;
    for (int k = 0; k < s->rows; k++) members += than[k], given += than[k] && ease(s, k) >= GIVEN;
    int here = count_active(s, GIVEN, FIXED);
    return here < given || (here == given && count_active(s, EQUATION, FIXED) < members);
}

/* A set that contradicts with as little as possible that is given. What is active contradicts. */
static void shrink(suspects *s)
{
    bool small[MOST];
    filter(s, EQUATION, FIXED);
    memcpy(small, s->active, sizeof small);
    int given = count_active(s, GIVEN, FIXED);
    for (int k = 0; k < s->rows; k++) s->active[k] |= ease(s, k) == EQUATION;
    filter(s, GIVEN, FIXED);
    bool less = count_active(s, GIVEN, FIXED) < given;
    if (less) filter(s, EQUATION, EQUATION);
    /* a solution that was missed with all equations is found with those that are left */
    if (!less || s->trials >= MOST_TRIALS || can_hold(s, THOROUGH))
        memcpy(s->active, small, sizeof small);
}

/* A set smaller than the one that is active, if there is one without member `i`. */
static bool shrink_without(suspects *s, int i)
{
    bool member[MOST];
    memcpy(member, s->active, sizeof member);
    for (int k = 0; k < s->rows; k++) s->active[k] = k != i;
    if (!can_hold(s, QUICK)) {
        shrink(s);
        if (is_smaller(s, member) && s->trials < MOST_TRIALS) return true;
    }
    memcpy(s->active, member, sizeof member);
    return false;
}

static void find_smaller(suspects *s)
{
    if (s->rows > SMALL) return;
    for (int i = 0; i < s->rows && s->trials < SMALL_TRIALS; i++)
        if (s->active[i] && count_active(s, EQUATION, FIXED) > 2 && shrink_without(s, i)) i = -1;
}

/* The active ones are a contradiction at the end. What is found with few starts is looked at with
 * more: if it can hold after all, the search begins again, and that point is known. */
static bool find_conflict(suspects *s)
{
    for (int search = 0; search < SEARCHES && s->trials < MOST_TRIALS; search++) {
        for (int k = 0; k < s->rows; k++) s->active[k] = k < s->first;
        if (s->first < s->core && can_hold(s, QUICK))
            for (int k = s->first; k < s->core; k++) s->active[k] = true;
        shrink(s);
        find_smaller(s);
        if (s->trials < MOST_TRIALS && !can_hold(s, THOROUGH)) return s->trials < MOST_TRIALS;
    }
    return false;
}

/* ---------------------------------------------------------------- words ----------------- */

/* " with L = 0.5, m = 2" for the parameters of an equation */
static void list_parameters(model *m, const model_equation *e, char *text, size_t size)
{
    size_t length = 0;
    int count = 0;
    const ex_id root[] = { e->text_left, e->text_right };
    text[0] = 0;
    if (e->condition != NOWHERE) return;
    ex_walk *w = ex_walk_begin(m->g, root, 2);
    for (size_t k = 0; k < w->count && count < 3; k++) {
        const ex_node *n = ex_at(m->g, w->order[k]);
        if (n->op != EX_VARIABLE || n->a >= m->flat_variables || m->variable[n->a].kind != KNOWN)
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%.40s = %.6g",
                                   count++ ? ", " : " with ", m->variable[n->a].name,
                                   m->value[slot_of(n->a, 0)]);
    }
    ex_walk_end(m->g, w);
}

static const char *fixed_words(model *m, uint32_t v, double value)
{
    char where[LOCATED] = "";
    if (v < m->flat_variables) model_locate(m, m->flat->variable[v].place, where, sizeof where);
    return dae_arena_print(&m->arena, "'%s = %.10g'%s", m->variable[v].name, value, where);
}

/* Is a fixed alias of a variable equal to it but for the sign? */
static bool has_opposite(const model *m, uint32_t v)
{
    bool any = false;
    for (uint32_t a = 0; a < m->flat_variables; a++)
        any |= m->variable[a].alias_of == v && m->variable[a].fixed == 1 &&
               m->variable[a].alias_sign < 0;
    return any;
}

/* Variables that are equal are one unknown, with one condition. If several of them are fixed it
 * stays when one is taken away: so all are named. */
static const char *describe_fixed(model *m, uint32_t v)
{
    uint32_t from = m->variable[v].start_from;
    double start = m->value[slot_of(v, 2)];
    int sign = from == v ? 1 : m->variable[from].alias_sign;
    const char *list = fixed_words(m, from, sign * start);
    int others = 0;
    for (uint32_t a = 0; a < m->flat_variables; a++) {
        const model_variable *x = &m->variable[a];
        if (a == from || x->fixed != 1 || (a != v && x->alias_of != v)) continue;
        if (++others > SHOWN) continue;
        list = dae_arena_print(&m->arena, "%s and %s", list,
                               fixed_words(m, a, a == v ? start : x->alias_sign * start));
    }
    if (others > SHOWN) list = dae_arena_print(&m->arena, "%s and %d more", list, others - SHOWN);
    return others == 0 ? dae_arena_print(&m->arena, "fixed start value %s", list)
                       : dae_arena_print(&m->arena,
                                         "fixed start values %s, which count as one: the variables "
                                         "are equal%s",
                                         list, has_opposite(m, v) ? " but for the sign" : "");
}

static const char *describe(suspects *s, int k)
{
    model *m = s->m;
    const model_equation *e = &s->all->list.item[s->row[k]];
    char text[160], where[LOCATED], with[200];
    model_locate(m, e->place, where, sizeof where);
    if (e->condition != NOWHERE) return describe_fixed(m, e->condition);
    model_equation_name(m, e, text, sizeof text);
    list_parameters(m, e, with, sizeof with);
    return dae_arena_print(&m->arena, "%s %s%s%s%s", e->role, text, with,
                           e->derived ? ", which follows from the equation" : "", where);
}

/* Where they come nearest to holding together; "". */
static const char *nearest_words(suspects *s, int members)
{
    model *m = s->m;
    char list[300] = "", from[80] = "";
    size_t length = 0;
    double most = -1;
    int worst = 0, at = 0, shown = 0;
    trust_end end = TRUST_UNDEFINED;
    for (int start = 0; start < 8 && end == TRUST_UNDEFINED; start++) {
        choose_start(s, start);
        end = try_from_u(s, members, BUDGET);
    }
    if (end != TRUST_NEAREST) return "";
    for (int k = 0; k < s->rows; k++) {
        if (!s->active[k]) continue;
        if (fabs(s->r[at]) > most) most = fabs(s->r[at]), worst = k;
        at++;
    }
    for (int j = 0; j < s->unknowns && shown < 5; j++) {
        if (!model_is_in(m, &s->all->list.item[s->row[worst]], s->slot[j])) continue;
        double value = fabs(s->u[j]) < 1e-6 * s->size[j] ? 0 : s->u[j];
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.40s = %.6g%s",
                                   shown++ ? ", " : "", model_slot_name(m, s->slot[j]), value,
                                   model_bound_words(m, s->slot[j], s->u[j]));
        if (members == 1 && shown == 1)
            snprintf(from, sizeof from, " %.40s = %.6g", model_slot_name(m, s->slot[j]),
                     s->guess[j]);
    }
    char text[160];
    model_equation_name(m, &s->all->list.item[s->row[worst]], text, sizeof text);
    return dae_arena_print(&m->arena,
                           "nearest approach from the start values%s: the sides of %s still differ "
                           "by %.4g, at %s",
                           from, text, most, list);
}

/* What is given among the active ones, or all of them if nothing is. */
static const char *list_given(suspects *s)
{
    const char *list = "";
    int from = count_active(s, GIVEN, FIXED) ? GIVEN : EQUATION, shown = 0;
    for (int k = 0; k < s->rows; k++)
        if (s->active[k] && ease(s, k) >= from && ++shown <= SHOWN)
            list = dae_arena_print(&s->m->arena, "%s\n       %s", list, describe(s, k));
    return list;
}

/* Another contradiction, apart from all of `member` that could be taken away, or else without the
 * first of these. */
static const char *another(suspects *s, const bool *member, int from)
{
    int first = -1;
    for (int k = 0; k < s->rows; k++) {
        s->active[k] = !member[k] || ease(s, k) < from;
        if (!s->active[k] && first < 0) first = k;
    }
    bool apart = !can_hold(s, QUICK);
    for (int k = 0; k < s->rows && !apart; k++) s->active[k] = k != first;
    shrink(s);
    return dae_arena_print(&s->m->arena, ", but then more contradictions remain, one %s:%s",
                           apart ? "apart from these" : "with one of these", list_given(s));
}

/* What to say if it is not enough for the whole case to take one member away; of the given, where
 * there are any: other equations one cannot have. */
static const char *more_words(suspects *s)
{
    bool member[MOST], enough[MOST] = { false };
    int from = count_active(s, GIVEN, FIXED) ? GIVEN : EQUATION, asked = 0, good = 0;
    const char *words = "";
    memcpy(member, s->active, sizeof member);
    for (int i = 0; i < s->rows; i++) {
        if (!member[i] || ease(s, i) < from) continue;
        for (int k = 0; k < s->rows; k++) s->active[k] = k != i;
        enough[i] = can_hold(s, QUICK);
        good += enough[i];
        asked++;
    }
    if (s->trials >= MOST_TRIALS)
        words = "; whether all else can then was not looked at";
    else if (good == 0)
        words = another(s, member, from);
    else if (good < asked) {
        memcpy(s->active, enough, sizeof enough);
        words =
            dae_arena_print(&s->m->arena, "; all else can with them only without%s", list_given(s));
    }
    memcpy(s->active, member, sizeof member);
    return words;
}

/* Linear conditions: what was found is certain. */
static bool is_linear(suspects *s)
{
    model *m = s->m;
    for (int k = 0; k < s->rows; k++) {
        model_coefficient *c;
        size_t count = s->active[k] ? model_coefficients(m, &s->all->list.item[s->row[k]], &c) : 0;
        for (size_t i = 0; i < count; i++) {
            bool unknown = false;
            for (int j = 0; j < s->unknowns; j++) unknown |= s->slot[j] == c[i].slot;
            bool linear = c[i].value && model_level(m, c[i].value) <= LEVEL_PARAMETER;
            if (unknown && !linear) return false;
        }
    }
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* As they stand in the text; only the members are left. */
static void sort_members(suspects *s)
{
    int count = 0;
    for (int k = 0; k < s->rows; k++)
        if (s->active[k]) s->row[count++] = s->row[k];
    qsort(s->row, (size_t)count, sizeof *s->row, compare_rows);
    s->rows = count;
    for (int k = 0; k < count; k++) s->active[k] = true;
}

/* Did an operation that is not defined end the attempt? */
static bool is_undefined(const model *m)
{
    return m->init.failed && m->init.culprit != NOWHERE;
}

static void say_undefined(suspects *s)
{
    model *m = s->m;
    const model_step *failed = m->init.failed;
    memcpy(m->value, s->kept, m->slots * sizeof *m->value);
    for (uint32_t k = 0; k < failed->assigned; k++)
        if (failed->assigned_equation[k] == m->init.culprit)
            model_say_nonfinite(m, failed->assigned_value[k]);
}

static void tell(suspects *s)
{
    model *m = s->m;
    const char *more = more_words(s);
    sort_members(s);
    int members = s->rows, easy = 0;
    m->conflict = dae_arena_take(&m->arena, MOST, sizeof *m->conflict);
    m->conflicts = 0;
    for (int k = 0; k < members; k++) easy += ease(s, k) > 0;
    if (compile_suspects(s) != DAE_OK) return;
    dae_report_clear(&m->report);
    bool linear = is_linear(s);
    dae_fail(&m->report, DAE_E_INCONSISTENT, "%s",
             members == 1 ? "finding initial values: no solution was found for an equation"
             : s->all->violations > 0 && !m->init.failed
                 ? "there are too many initial conditions, and they contradict each other"
             : linear ? "finding initial values: the conditions contradict each other"
                      : "finding initial values: no solution was found for all conditions at once");
    for (int kind = 2; kind >= 0; kind--)
        for (int k = 0; k < s->rows; k++)
            if (ease(s, k) == kind) m->conflict[m->conflicts++] = describe(s, k);
    const char *list = m->conflict[0];
    for (int k = 1; k < members && k < SHOWN; k++)
        list = dae_arena_print(&m->arena, "%s\n      %s", list, m->conflict[k]);
    if (members > SHOWN)
        list = dae_arena_print(&m->arena, "%s\n      and %d more", list, members - SHOWN);
    dae_at(&m->report, "%s", list);
    const char *near = nearest_words(s, members);
    if (members == 1)
        dae_why(&m->report, "%s%s", near[0] ? near : "no values satisfy it", more);
    else
        dae_why(&m->report, "%s %d %s; without any one of them the others can%s%s%s",
                linear ? "these" : "no values were found with which these", members,
                linear ? "cannot hold together" : "hold together", more, near[0] ? "\n       " : "",
                near);
    if (is_undefined(m)) say_undefined(s);
    dae_hint(&m->report, "%s%s",
             members == 1 ? "check the equation and the parameters in it"
             : easy > 0   ? "change or take away one of the initial conditions named first"
                          : "change one of these equations, or a parameter in them",
             linear ? ""
                    : "; if there is a solution, better start values or "
                      "homotopy(actual, simplified) may lead to it");
}

/* Too many conditions to look for those that contradict each other: those that can be changed most
 * easily are named. */
static void tell_limit(suspects *s)
{
    model *m = s->m;
    const char *list = "";
    int easy = 0;
    for (int k = 0; k < s->rows; k++) {
        if (ease(s, k) == 0 || ++easy > SHOWN) continue;
        list = dae_arena_print(&m->arena, "%s\n       %s", list, describe(s, k));
    }
    if (easy > SHOWN)
        list = dae_arena_print(&m->arena, "%s\n       and %d more", list, easy - SHOWN);
    dae_why(&m->report,
            "%d conditions take part: which of them contradict each other is looked for among "
            "at most %d%s%s",
            s->rows, MOST, easy ? "; initial conditions among them:" : "", list);
}

dae_status conflict_explain(model *m, dae_status status, bool *solved)
{
    suspects *s = dae_arena_take(&m->arena, 1, sizeof *s);
    dae_report first = m->report;
    *s = (suspects){ .m = m, .all = m->initial_rows };
    *solved = false;
    if (!find_suspects(s)) {
        if (s->rows > MOST) tell_limit(s);
        return status;
    }
    find_unknowns(s);
    dae_report_clear(&m->report);
    dae_status compiled = compile_suspects(s);
    m->report = first;
    if (compiled != DAE_OK) return status;
    find_sizes(s);
    for (int k = 0; k < s->core; k++) s->active[k] = true;
    *solved = can_hold(s, THOROUGH);
    if (*solved) {
        s->rows = s->core;
        mark_dependent(s);
        return status;
    }
    if (!find_conflict(s)) {
        memcpy(m->value, s->kept, m->slots * sizeof *m->value);
        return status;
    }
    tell(s);
    memcpy(m->value, s->kept, m->slots * sizeof *m->value);
    /* an equation that stands alone and is not defined: that is all there is to say */
    if (s->rows == 1 && first.status == DAE_E_NONFINITE && is_undefined(m)) m->report = first;
    return m->report.status;
}
