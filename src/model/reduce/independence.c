/* independence.c: have the conditions that states are projected to become dependent on the way?
 *
 * Where constraints lose rank branches of solutions meet: a parallelogram in its flat position
 * goes on as one, or as its crossed form. A projection (project.c) takes the nearest point, on
 * either, and velocities that the other branch does not have jump. At both ends of the step all
 * looks well.
 *
 * With F_i^(c_i - 1) = 0 and u_j = x_j^(d_j - 1), the highest derivatives that are states,
 *
 *     W = (dF_i^(c_i - 1) / du_j)
 *
 * consists of the rows of the system Jacobian that were differentiated; of a mechanism, the
 * Jacobian of its constraints. Its smallest singular value sigma touches 0 like |t - t*|, of no
 * sign, so its least value is looked for. Columns are scaled by the largest values so far, rows
 * by their length of late (at this step and the one before; older ones fade): a row by itself
 * may vanish, too. Each strand of W, conditions that have unknowns in common, has its own sigma.
 * Where some depend on others all the time, the last of the singular values that are not 0
 * counts.
 *
 * Constraints that hold up to errors e leave branches as far apart as sqrt(e): a sigma below
 * NEAR sqrt(rtol) of the largest so far is 0 for all that can be known. After each step it is
 * computed at both ends and in the middle; where it changes so fast that a V could reach down to
 * that in between, the least value there is found, on the interpolated states. A step that fails
 * on the way down, below SMALL, does so for that reason. Strands of more than MOST conditions
 * are not watched.
 */
#include "model/reduce/project.h"

#include "integrate/glance.h"
#include "linear/lapack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 200, PARTS = 8, ROUNDS = 40, FADING = 4, NAMED = 4 };

static const double NEAR = 3, FOREIGN = 0.3, STEEPER = 2, SMALL = 0.1, CHANGED = 1e-9;

/* ---------------------------------------------------------------- building -------------- */

static uint32_t state_slot(model *m, ex_id e)
{
    model_substitute(m, &e, 1);
    const ex_node *n = ex_at(m->g, e);
    return leaf_slot(m->g, n->op == EX_NEGATE ? n->a : e);
}

/* Of slots: highest derivatives that are states, and of no other unknown a lower one (aliases). */
static unsigned char *find_highest(model *m)
{
    unsigned char *highest = dae_arena_take(&m->arena, m->slots, 1);
    for (size_t k = 0; k < m->flat->jumps; k++) {
        ex_id e = m->flat->jump[k].below;
        uint32_t slot = e ? state_slot(m, e) : NOWHERE;
        if (slot != NOWHERE) highest[slot] = 1;
    }
    for (size_t k = 0; k < m->flat->lowers; k++) {
        uint32_t slot = state_slot(m, m->flat->lower[k]);
        if (slot != NOWHERE) highest[slot] = 0;
    }
    return highest;
}

static int root_of(int *parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* Which strand a condition belongs to: -1, none. */
static int *find_strands(model *m, model_projection *j, const unsigned char *highest)
{
    int rows = j->conditions;
    int *parent = dae_arena_take(&m->arena, (size_t)rows + 1, sizeof *parent);
    int *strand = dae_arena_take(&m->arena, (size_t)rows + 1, sizeof *strand);
    unsigned char *used = dae_arena_take(&m->arena, (size_t)rows + 1, 1);
    for (int i = 0; i < rows; i++) parent[i] = i;
    for (int c = 0; c < j->states; c++) {
        int first = -1;
        for (int64_t k = j->start[c]; k < j->start[c + 1]; k++) {
            int i = j->row[k];
            if (!m->flat->invariant[i].below || !highest[j->g.slot[j->input[c]]]) continue;
            used[i] = 1;
            if (first < 0) first = i;
            parent[root_of(parent, i)] = root_of(parent, first);
        }
    }
    for (int i = 0; i < rows; i++)
        strand[i] = used[i] && root_of(parent, i) == i ? j->strands++ : -1;
    for (int i = 0; i < rows; i++)
        if (used[i]) strand[i] = strand[root_of(parent, i)];
    return strand;
}

static void take_strand(model *m, model_strand *s)
{
    s->row = dae_arena_take(&m->arena, (size_t)s->rows + 1, sizeof *s->row);
    s->entry = dae_arena_take(&m->arena, (size_t)s->entries + 1, sizeof *s->entry);
    s->at = dae_arena_take(&m->arena, (size_t)s->entries + 1, sizeof *s->at);
    s->entry_row = dae_arena_take(&m->arena, (size_t)s->entries + 1, sizeof *s->entry_row);
    s->entry_column = dae_arena_take(&m->arena, (size_t)s->entries + 1, sizeof *s->entry_column);
    s->kept = dae_arena_take(&m->arena, (size_t)s->entries + 1, sizeof *s->kept);
}

/* Every entry to its strand; the first time they are only counted. */
static void deal_entries(model *m, model_projection *j, const unsigned char *highest,
                         const int *strand, const int *place)
{
    bool count = place == NULL;
    for (int k = 0; k < j->strands; k++) j->strand[k].entries = j->strand[k].columns = 0;
    for (int c = 0; c < j->states; c++) {
        model_strand *s = NULL; /* all entries of a column are of one */
        for (int64_t k = j->start[c]; k < j->start[c + 1]; k++) {
            int i = j->row[k];
            if (!m->flat->invariant[i].below || !highest[j->g.slot[j->input[c]]]) continue;
            if (!s) (s = &j->strand[strand[i]])->columns++;
            int e = s->entries++;
            if (count || s->rows > MOST) continue;
            s->entry[e] = k;
            s->entry_row[e] = i;
            s->entry_column[e] = c;
            s->at[e] = place[i] + (s->columns - 1) * s->rows;
        }
    }
}

void model_build_strands(model *m, model_projection *j)
{
    size_t rows = (size_t)j->conditions, n = (size_t)m->p.problem.size, a = 0, least = 0, work = 0;
    unsigned char *highest = find_highest(m);
    int *strand = find_strands(m, j, highest);
    int *place = dae_arena_take(&m->arena, rows + 1, sizeof *place);
    j->strand = dae_arena_take(&m->arena, (size_t)j->strands + 1, sizeof *j->strand);
    for (size_t i = 0; i < rows; i++)
        if (strand[i] >= 0) place[i] = j->strand[strand[i]].rows++;
    deal_entries(m, j, highest, strand, NULL);
    for (int k = 0; k < j->strands; k++) {
        model_strand *s = &j->strand[k];
        size_t r = (size_t)s->rows, c = (size_t)s->columns, small = r < c ? r : c;
        if (s->rows > MOST) continue;
        take_strand(m, s);
        a = r * c > a ? r * c : a;
        least = small > least ? small : least;
        work = 12 * small + r + c > work ? 12 * small + r + c : work;
    }
    deal_entries(m, j, highest, strand, place);
    for (size_t i = 0; i < rows; i++)
        if (strand[i] >= 0 && j->strand[strand[i]].rows <= MOST)
            j->strand[strand[i]].row[place[i]] = (int)i;
    j->column_size = dae_arena_take(&m->arena, (size_t)j->states + 1, sizeof(double));
    j->row_size = dae_arena_take(&m->arena, rows + 1, sizeof(double));
    j->row_last = dae_arena_take(&m->arena, rows + 1, sizeof(double));
    j->x = dae_arena_take(&m->arena, n + 1, sizeof(double));
    j->xdot = dae_arena_take(&m->arena, n + 1, sizeof(double));
    j->a = dae_arena_take(&m->arena, a + 1, sizeof(double));
    j->sigma = dae_arena_take(&m->arena, least + 1, sizeof(double));
    j->work = dae_arena_take(&m->arena, work + 1, sizeof(double));
    j->index = dae_arena_take(&m->arena, 8 * least + 1, sizeof *j->index);
    j->lwork = (int)work;
}

/* ---------------------------------------------------------------- how independent ------- */

/* The singular values of a strand, from G, into j->sigma; how many. */
static int decompose(model_projection *j, const model_strand *s)
{
    int rows = s->rows, columns = s->columns, one = 1, info = 0,
        small = rows < columns ? rows : columns;
    memset(j->a, 0, (size_t)rows * (size_t)columns * sizeof *j->a);
    for (int e = 0; e < s->entries; e++) {
        double size = j->row_size[s->entry_row[e]];
        double value = j->G[s->entry[e]] * j->column_size[s->entry_column[e]];
        if (!isfinite(value)) return 0;
        j->a[s->at[e]] = size > 0 ? value / size : 0;
    }
    dgesdd_("N", &rows, &columns, j->a, &rows, j->sigma, NULL, &one, NULL, &one, j->work, &j->lwork,
            j->index, &info, 1);
    return info == 0 ? small : 0;
}

static double last_of(model_projection *j, const model_strand *s)
{
    return decompose(j, s) >= s->rank && s->rank > 0 ? j->sigma[s->rank - 1] : NAN;
}

/* G at t, where the states are interpolated. */
static bool look(model *m, model_projection *j, double t)
{
    double now = m->value[0];
    dae_glance(m->solver, t, j->x, j->xdot);
    m->value[0] = t;
    unit_gather(m, &j->g);
    m->value[0] = now;
    for (int c = 0; c < j->states; c++) j->g.in[j->input[c]] = j->x[j->column[c]];
    return model_run_conditions(j) == DAE_OK;
}

static double sigma_at(model *m, const model_strand *s, double t)
{
    model_projection *j = m->p.projection;
    return look(m, j, t) ? last_of(j, s) : NAN;
}

/* The units of W, from G after a step. */
static void note_sizes(model *m, model_projection *j, bool first)
{
    for (int c = 0; c < j->states; c++) {
        double nominal = fabs(m->variable[slot_variable(j->g.slot[j->input[c]])].nominal_value);
        double size = fmax(nominal > 0 ? nominal : 1, fabs(j->g.in[j->input[c]]));
        j->column_size[c] = first ? size : fmax(size, j->column_size[c]);
    }
    for (int k = 0; k < j->strands; k++) {
        const model_strand *s = &j->strand[k];
        if (s->rows > MOST) continue;
        for (int i = 0; i < s->rows; i++) j->size[s->row[i]] = 0;
        for (int e = 0; e < s->entries; e++)
            j->size[s->entry_row[e]] = hypot(
                j->size[s->entry_row[e]], j->G[s->entry[e]] * j->column_size[s->entry_column[e]]);
        for (int i = 0; i < s->rows; i++) {
            int r = s->row[i];
            double before = first ? 0 : fmax(j->row_last[r], j->row_size[r] / FADING);
            j->row_size[r] = fmax(j->size[r], before);
            j->row_last[r] = j->size[r];
        }
    }
}

/* ---------------------------------------------------------------- between two steps ----- */

/* Where between a and b it is smallest, and what it is there. */
static double find_least(model *m, const model_strand *s, double a, double b, double enough,
                         double *at)
{
    const double golden = 0.6180339887498949;
    double least = INFINITY, h = (b - a) / PARTS;
    *at = a;
    for (int k = 0; k <= PARTS; k++) {
        double t = k == PARTS ? b : a + k * h, here = sigma_at(m, s, t);
        if (here < least) least = here, *at = t;
    }
    double low = fmax(a, *at - h), high = fmin(b, *at + h);
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double at_left = sigma_at(m, s, left), at_right = sigma_at(m, s, right);
    for (int k = 0; k < ROUNDS && least > enough; k++) {
        if (at_left < least) least = at_left, *at = left;
        if (at_right < least) least = at_right, *at = right;
        if (at_left <= at_right || isnan(at_right)) {
            high = right, right = left, at_right = at_left;
            left = high - golden * (high - low), at_left = sigma_at(m, s, left);
        } else {
            low = left, left = right, at_left = at_right;
            right = low + golden * (high - low), at_right = sigma_at(m, s, right);
        }
    }
    return least;
}

/* Was the equation differentiated more than once? Its other derivatives stand before this one. */
static bool is_deep(const model *m, int row)
{
    return row > 0 && !m->flat->invariant[row - 1].below;
}

/* The places of the conditions; of those that were differentiated most, if there are both. */
static int list_places(model *m, const model_strand *s, char *list, size_t size)
{
    char where[LOCATED];
    size_t length = 0;
    int deep = 0, named = 0;
    for (int i = 0; i < s->rows; i++) deep += is_deep(m, s->row[i]);
    int count = deep > 0 ? deep : s->rows;
    list[0] = 0;
    for (int i = 0; i < s->rows && named < NAMED && length < size; i++) {
        if (deep > 0 && !is_deep(m, s->row[i])) continue;
        model_locate(m, m->flat->invariant[s->row[i]].place, where, sizeof where);
        length += (size_t)snprintf(list + length, size - length, "%s%s", named++ ? "," : "", where);
    }
    if (count > NAMED && length < size)
        snprintf(list + length, size - length, " and %d more", count - NAMED);
    return count;
}

static dae_status tell_dependent(model *m, const model_strand *s, double at, const char *why)
{
    char list[NAMED * (LOCATED + 2) + 40];
    int count = list_places(m, s, list, sizeof list);
    dae_fail(&m->report, DAE_E_IMPASSE,
             "constraints become dependent: it is not known how it goes on");
    dae_at(&m->report, "t = %.10g, %d %s%s", at, count, count == 1 ? "constraint" : "constraints",
           list);
    dae_why(&m->report, "%s; where branches of solutions meet a projection may take any", why);
    dae_hint(&m->report,
             "results up to there are right; --route direct may pass, a tighter tolerance "
             "tells a near miss; otherwise stop before, or start behind it");
    return DAE_E_IMPASSE;
}

static dae_status tell_least(model *m, const model_strand *s, double at, double least, double rtol)
{
    char why[200];
    snprintf(why, sizeof why,
             "their smallest singular value falls to %.2g of its largest so far, which "
             "is 0 as far as "
             "can be known with rtol %g",
             least / s->most, rtol);
    return tell_dependent(m, s, at, why);
}

bool model_blame_dependence(model *m, dae_status failed)
{
    const model_projection *j = m->p.projection;
    char why[200];
    bool numeric = failed == DAE_E_CONVERGENCE || failed == DAE_E_SINGULAR ||
                   failed == DAE_E_REFUSED || failed == DAE_E_STEP_UNDERFLOW ||
                   failed == DAE_E_IMPASSE;
    if (!j || !numeric) return false;
    for (int k = 0; k < j->strands; k++) {
        const model_strand *s = &j->strand[k];
        if (s->rows > MOST || !(s->last < SMALL * s->most) || !s->falls) continue;
        double t = dae_time(m->solver), at = s->slope > 0 ? t + s->last / s->slope : t;
        snprintf(why, sizeof why,
                 "their smallest singular value has fallen to %.2g of its largest so "
                 "far, and no step "
                 "from t = %.10g on succeeds",
                 s->last / s->most, t);
        tell_dependent(m, s, at, why);
        return true;
    }
    return false;
}

/* From G at the end of a step: has anything changed since the last one? */
static bool varies(const model_projection *j, model_strand *s)
{
    bool changed = false;
    for (int e = 0; e < s->entries; e++) {
        changed |= s->kept[e] != j->G[s->entry[e]];
        s->kept[e] = j->G[s->entry[e]];
    }
    return changed;
}

/* From G at `to`. */
static void note_rank(model_projection *j, model_strand *s, double rtol)
{
    int rank = 0, count = decompose(j, s);
    while (rank < count && j->sigma[rank] > FOREIGN * sqrt(rtol)) rank++;
    if (rank > s->rank) {
        s->rank = rank;
        s->most = 0;
    }
    s->last = s->rank > 0 && count >= s->rank ? j->sigma[s->rank - 1] : NAN;
    s->most = fmax(s->most, s->last);
}

static dae_status check_strand(model *m, model_strand *s, double from, double to, double rtol)
{
    double middle = 0.5 * (from + to), half = middle - from, at = to;
    double sigma[] = { sigma_at(m, s, from), sigma_at(m, s, middle), s->last };
    double t[] = { from, middle, to };
    double slope = fmax(fabs(sigma[1] - sigma[0]), fabs(sigma[2] - sigma[1])) / half;
    double steep = STEEPER * fmax(slope, s->slope), zero = NEAR * sqrt(rtol);
    s->slope = slope;
    s->most = fmax(s->most, fmax(sigma[0], sigma[1]));
    /* the last steps before a failure are so short that what changes is rounding */
    if (fabs(sigma[2] - sigma[0]) > CHANGED * s->most) s->falls = sigma[2] < sigma[0];
    if (!(s->most > zero)) return DAE_OK; /* never far enough from 0 to tell */
    for (int k = 0; k < 2; k++) {
        if (sigma[k] + sigma[k + 1] - steep * half > 2 * zero * s->most) continue;
        double least = find_least(m, s, t[k], t[k + 1], 0.1 * zero * s->most, &at);
        if (least < zero * s->most) return tell_least(m, s, at, least, rtol);
    }
    return DAE_OK;
}

dae_status model_check_independence(model *m, double from, double to, bool first, double rtol)
{
    model_projection *j = m->p.projection;
    dae_status status = DAE_OK;
    if (!j || j->strands == 0) return DAE_OK;
    unit_gather(m, &j->g);
    if (model_run_conditions(j) != DAE_OK) return DAE_OK; /* the next step says so */
    note_sizes(m, j, first);
    for (int k = 0; k < j->strands; k++) { /* all from the same G */
        model_strand *s = &j->strand[k];
        if (s->rows > MOST) continue;
        if (first) s->rank = 0, s->most = s->slope = 0, s->falls = false;
        s->changed = varies(j, s) || first;
        if (s->changed) note_rank(j, s, rtol);
    }
    for (int k = 0; k < j->strands && status == DAE_OK && !first; k++)
        if (j->strand[k].rows <= MOST && j->strand[k].changed && to > from)
            status = check_strand(m, &j->strand[k], from, to, rtol);
    return status;
}
