/* newton.c: a curve that satisfies the equations and their derivatives.
 *
 * Gauss-Newton for R_0 = 0 .. R_k = 0: the smallest change of c_0, then of c_1, .., that satisfies
 * the linearized array. Samples of Jacobians are what the analysis spends its time on: a dense
 * function of 200 unknowns is evaluated more than 10,000 times for them, but sixteen times
 * for a residual. So Jacobians are kept as long as corrections become smaller quickly; where they
 * are expensive, as long as they become smaller at all, and the corrections before a new one are
 * combined with it (Anderson 1965: the combination of curves whose correction, were everything
 * linear, is the smallest), which does in few directions what new Jacobians would do in all. It
 * may also lead to another branch of solutions, further away.
 *
 * The scale of time, H, follows the curve: before samples are taken, it is made as large as series
 * along the curve allow. F_x and F_x' in two directions tell that, for some dozen evaluations.
 *
 * Away from a consistent point equations have ranks that they should not have: M(x) g(x, x') = 0
 * has the structure of g = 0 only where g vanishes. Where R_0 = 0 .. R_{k-1} = 0 it has it, as far
 * as the array up to R_k is concerned: so ranks are decided when a level begins, and kept
 * during its iteration.
 */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

enum { SHRINKINGS = 40, HALVINGS = 10 };
enum { LOOKS = 6 }; /* units and increments follow each other: two or three are enough */
/* How large entries may be that increments do not show, so that they change no rank. */
static const double well_known = 1e-12;
enum { RENEWALS = 10 }; /* of expensive Jacobians in one search: those that end need two or three */

/* What series may leave out, and how small a last correction has to be. */
static const double good_tail = 1e-10, fair_tail = 2e-9, small_step = 1e-9;
/* How small a derivative may become in its equation. */
static const double weak = 1e-3;
/* What kept singular values are, at least, beside those dropped, for a rank to be trusted; a level
 * later they are as much closer again. */
static const double clear = 300;
/* Corrections become smaller: quickly, at all. */
static const double quickly = 0.2, at_all = 0.7;

static size_t curve_size(const dae_analysis *a)
{
    return (DAE_MOST_SERIES + 1) * (size_t)a->series.n;
}

/* Many evaluations for a Jacobian? */
static int dense(const dae_analysis *a)
{
    return dae_equations_cost(&a->equations);
}

/* ---- the scale of time ---- */

static int find_increments(dae_analysis *a)
{
    dae_series *s = &a->series;
    dae_equations *e = &a->equations;
    for (int i = 0; i < s->n; i++) {
        e->x_curve[i] = s->column[i] * s->c[i];
        e->v_curve[i] = s->column[i] * s->c[s->n + i] / s->H;
    }
    return dae_equations_increments(e, s->H, s->t, e->x_curve, e->v_curve);
}

/* Do series end in time? DAE_RETRY: no. */
static int probe(dae_analysis *a, double limit)
{
    double tail;
    int answer = dae_series_probe(&a->series, &a->equations, &tail);
    return answer == DAE_OK && !(tail <= limit) ? DAE_RETRY : answer;
}

/* The series of the samples, units for their ranks, and how exactly entries are known in these */
static void turn(dae_analysis *a)
{
    dae_series_turn(&a->series);
    if (dae_units_choose(a)) /* what is not known of entries counts in these units */
        dae_series_turn(&a->series);
    if (!a->series.few)
        a->series.grain = fmax(dae_units_noise(a, 0), a->closer ? a->series.blur : 0);
}

static int sample(dae_analysis *a)
{
    int rough = dense(a) && !a->exactly && !a->series.steady;
    int answer = (rough ? dae_series_sample_roughly : dae_series_sample)(&a->series, &a->equations);
    if (answer == DAE_OK) turn(a);
    a->past_count = a->aged = 0;
    return answer;
}

/* With the increments at hand */
static int look(dae_analysis *a)
{
    dae_series *s = &a->series;
    dae_equations *e = &a->equations;
    int answer = dae_series_sketch(s, e);
    if (answer == DAE_OK && dae_series_scale(s, e->row) < weak) answer = DAE_RETRY;
    if (answer == DAE_OK && !s->steady && dense(a)) answer = probe(a, 10 * good_tail);
    if (answer == DAE_OK) answer = sample(a);
    return answer == DAE_OK ? dae_series_residual(s, e) : answer;
}

/* Would no other increments tell entries better? Those of the user need none, and to look for them
 * is not worth the evaluations where there are very many. */
static int seen_well(const dae_analysis *a)
{
    const dae_equations *e = &a->equations;
    return e->given || e->colors > DAE_DENSE || dae_units_noise(a, 1) <= well_known;
}

/* Entries are known as exactly as increments let them be seen, and which increments those are,
 * the units tell that entries give. */
int dae_look_along(dae_analysis *a)
{
    dae_series *s = &a->series;
    dae_equations *e = &a->equations;
    int known = (dense(a) || e->given) && e->increments > s->H / 8 && e->increments < 8 * s->H;
    int answer = known ? DAE_OK : find_increments(a);
    if (answer == DAE_OK) answer = look(a);
    for (int k = 0; k < LOOKS && answer == DAE_OK && !s->few; k++) {
        int slower = dae_units_slow_down(a);
        if (!slower && seen_well(a)) break;
        dae_units_adopt(a);
        answer = find_increments(a);
        if (answer == DAE_OK) answer = look(a);
    }
    return answer == DAE_OK && (s->tail > good_tail || s->tail_R > fair_tail) ? DAE_RETRY : answer;
}

/* H twice as large, if series still end in time; 1: it is. */
static int widen(dae_analysis *a)
{
    dae_series *s = &a->series;
    if (2 * s->H > a->widest) return 0;
    dae_series_stretch(s, 2);
    if (dae_series_scale(s, a->equations.row) >= weak && probe(a, good_tail) == DAE_OK &&
        dae_series_residual(s, &a->equations) == DAE_OK && s->tail_R < fair_tail)
        return 1;
    dae_series_stretch(s, 0.5);
    dae_series_scale(s, a->equations.row);
    return 0;
}

/* H for the curve as it is now: as large as possible. */
static int fit_time(dae_analysis *a)
{
    dae_series *s = &a->series;
    int answer = probe(a, fair_tail), count = 0;
    if (answer == DAE_OK)
        while (widen(a) && count < SHRINKINGS) count++;
    for (; count < SHRINKINGS && answer == DAE_RETRY && dense(a); count++) {
        dae_series_stretch(s, 0.5);
        dae_series_scale(s, a->equations.row);
        answer = probe(a, good_tail);
    }
    return answer;
}

static int renew(dae_analysis *a)
{
    int quiet = a->series.noise == 0 && a->series.H > 1e-6 * a->widest;
    int slower = dae_units_slow_down(a);
    int answer = dense(a) || (quiet && !slower) ? fit_time(a) : DAE_OK;
    if (!dense(a) && answer == DAE_RETRY) /* the samples themselves will tell */
        answer = DAE_OK;
    a->series.steady = 0;
    if (answer == DAE_OK) answer = sample(a);
    if (answer != DAE_OK || a->series.tail <= fair_tail) return answer;
    a->widest = a->series.H / 2; /* whatever the few directions say */
    return DAE_RETRY;
}

/* ---- corrections ---- */

static double largest(const double *v, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(v[i]));
    return most;
}

/* Block by block, relative to what is there. */
static double step_size(const dae_analysis *a, const double *change)
{
    size_t n = (size_t)a->series.n;
    double size = 0, unit = fmax(largest(a->series.c, n), 1);
    for (int j = 0; j <= a->series.order + 1; j++)
        size = fmax(size, largest(change + (size_t)j * n, n) /
                              fmax(unit, largest(a->series.c + (size_t)j * n, n)));
    return size;
}

/* The correction that the linearized array asks for here, and its size. */
static int find_step(dae_analysis *a, double *change, double *size)
{
    const dae_series *s = &a->series;
    a->past_count = 0;
    if (dae_array_eliminate(&a->array, s, s->order) != 0) return DAE_E_CONVERGENCE;
    dae_array_step(&a->array, s, change);
    *size = step_size(a, change);
    return DAE_OK;
}

/* The same by the Jacobians of the last one, for the residual at hand */
static void same_step(dae_analysis *a, double *change, double *size)
{
    dae_array_right_sides(&a->array, &a->series);
    dae_array_step(&a->array, &a->series, change);
    *size = step_size(a, change);
}

/* c := base + factor change, with the factor for which the next correction, by the same
 * Jacobians, is smaller (Deuflhard's natural test: the residual itself is no measure, its parts
 * are of the size of H, H^2, ..). That correction is in next. */
static int take_step(dae_analysis *a, double size, double *next_size)
{
    size_t count = (size_t)(a->series.order + 2) * (size_t)a->series.n;
    double factor = 1;
    int answer = DAE_RETRY;
    memcpy(a->base, a->series.c, curve_size(a) * sizeof *a->base);
    for (int k = 0; k < (a->past_count ? 1 : HALVINGS); k++, factor /= 2) {
        for (size_t i = 0; i < count; i++) a->series.c[i] = a->base[i] + factor * a->change[i];
        answer = dae_series_residual(&a->series, &a->equations);
        if (answer == DAE_OK && a->facts.linear) return DAE_OK;
        if (answer == DAE_RETRY) continue;
        if (answer == DAE_OK) same_step(a, a->next, next_size);
        if (answer != DAE_OK || size < 1e-6 || *next_size <= (1 - factor / 4) * size ||
            (a->aged && *next_size < size)) /* old Jacobians: better new ones than short steps */
            break;
    }
    return answer;
}

/* ---- corrections of before ---- */

static double dot(const double *x, const double *y, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i] * y[i];
    return sum;
}

/* The step from base to c changed the correction from `pure` to `next`: remembered, orthogonal
 * to those before (by the differences of corrections). */
static void remember(dae_analysis *a)
{
    size_t curve = curve_size(a), count = (size_t)(a->series.order + 2) * (size_t)a->series.n;
    if (a->past_count == DAE_PAST) {
        memmove(a->past, a->past + 2 * curve, 2 * (DAE_PAST - 1) * curve * sizeof *a->past);
        a->past_count--;
    }
    double *g = a->past + 2 * curve * (size_t)a->past_count, *c = g + curve;
    for (size_t i = 0; i < count; i++) {
        g[i] = a->next[i] - a->pure[i];
        c[i] = a->series.c[i] - a->base[i];
    }
    double before = dot(g, g, count);
    for (int k = 0; k < a->past_count; k++) {
        const double *old = a->past + 2 * curve * (size_t)k;
        double factor = dot(old, g, count) / dot(old, old, count);
        for (size_t i = 0; i < count; i++) {
            g[i] -= factor * old[i];
            c[i] -= factor * old[curve + i];
        }
    }
    a->past_count += dot(g, g, count) > 1e-12 * before;
}

/* change := next, less what the past says of it: next + sum of b (g, c) is smallest without g, and
 * the curve moves by the same combination. */
static void combine(dae_analysis *a)
{
    size_t curve = curve_size(a), count = (size_t)(a->series.order + 2) * (size_t)a->series.n;
    memcpy(a->change, a->next, curve * sizeof *a->next);
    for (int k = 0; k < a->past_count; k++) {
        const double *g = a->past + 2 * curve * (size_t)k, *c = g + curve;
        double factor = dot(g, a->next, count) / dot(g, g, count);
        for (size_t i = 0; i < count; i++) a->change[i] -= factor * (g[i] + c[i]);
    }
}

/* ---- the iteration ---- */

/* With the Jacobians of the curve as it is now, if `anew`. Where rough ones do not tell the ranks
 * clearly, good ones have to. */
static int begin(dae_analysis *a, int anew, double *size)
{
    int answer = anew ? renew(a) : DAE_OK, decides = !a->array.forced && !a->facts.linear;
    if (answer == DAE_OK) answer = dae_series_residual(&a->series, &a->equations);
    if (decides) dae_svd_forget(&a->array.svd);
    if (answer == DAE_OK) answer = find_step(a, a->pure, size);
    if (answer == DAE_OK && decides && a->series.rough && a->array.svd.gap < clear) {
        a->exactly = a->unclear = 1;
        return begin(a, 1, size);
    }
    a->unclear |= decides && a->series.rough && a->array.svd.gap < clear * clear;
    memcpy(a->change, a->pure, curve_size(a) * sizeof *a->pure);
    return answer;
}

/* The series of the samples at hand do if those of the curve as it is now give the same ranks; if
 * not, they are replaced by these. (Where it does not matter the former are better: what a level
 * leaves open, often x', is far from a solution, and so is where its slopes lead.) */
static int compare_ranks(dae_analysis *a)
{
    dae_series *s = &a->series;
    int rank[DAE_MOST_SERIES + 1], same = 1;
    size_t count = (2 * (size_t)s->order + 3) * (size_t)s->n * (size_t)s->n;
    int64_t varying = s->varying;
    double *kept = dae_alloc(&a->memory, count, sizeof *kept);
    if (!kept) return dae_analysis_no_memory(a, "the derivative array");
    dae_rank weakest = a->array.svd.weakest;
    double gap = a->array.svd.gap, blur = s->blur, size;
    turn(a);
    memcpy(kept, s->K, count * sizeof *kept);
    int answer = find_step(a, a->next, &size);
    memcpy(rank, a->array.rank, sizeof rank);
    if (answer == DAE_OK) answer = sample(a);
    if (answer == DAE_OK && s->tail <= fair_tail) answer = find_step(a, a->next, &size);
    for (int j = 0; j <= s->order + 1; j++) same &= rank[j] == a->array.rank[j];
    if (answer == DAE_OK && same) {
        memcpy(s->K, kept, count * sizeof *kept);
        s->varying = varying;
        s->blur = blur;
        a->aged = 1;
    }
    a->array.svd.weakest = weakest;
    a->array.svd.gap = gap;
    dae_free(&a->memory, kept);
    return answer;
}

int dae_settle(dae_analysis *a, int fresh)
{
    double size, next_size = 0;
    int linear = a->facts.linear, slow = 0, renewals = 0;
    int compare = a->aged && !fresh && !linear && !dense(a);
    int anew = !a->series.sampled || ((fresh || a->aged || a->series.rough) && !linear);
    int answer = DAE_OK;
    a->exactly = fresh || linear || a->unclear;
    a->array.forced = 0;
    if (compare && a->series.sampled)
        answer = compare_ranks(a);
    else if (!anew)
        turn(a);
    if (answer == DAE_OK) answer = begin(a, anew && !(compare && a->series.sampled), &size);
    for (int k = 0; k < DAE_ITERATIONS && answer == DAE_OK; k++) {
        if (size <= small_step) return DAE_OK;
        a->array.forced = a->series.order > 0;
        answer = take_step(a, size, &next_size);
        if (linear && answer == DAE_OK) { /* once more, for what rounding has left */
            same_step(a, a->change, &next_size);
            if (next_size > quickly * size) return DAE_OK;
            size = next_size;
            continue;
        }
        if (answer != DAE_OK) return answer;
        if (size < 1e-5 && next_size > size / 2 && (!a->aged || dense(a))) return DAE_OK;
        slow = next_size > quickly * size ? slow + 1 : 0;
        if (next_size > (dense(a) ? at_all : quickly) * size || slow > 4) {
            if (dense(a) && next_size > size)
                memcpy(a->series.c, a->base, curve_size(a) * sizeof *a->base);
            if (dense(a) && renewals++ == RENEWALS) return DAE_E_INCONSISTENT;
            answer = begin(a, 1, &size);
            slow = 0;
            continue;
        }
        a->aged = 1;
        if (dense(a)) remember(a);
        memcpy(a->pure, a->next, curve_size(a) * sizeof *a->next);
        combine(a);
        size = next_size;
    }
    return answer == DAE_OK ? DAE_E_INCONSISTENT : answer;
}
