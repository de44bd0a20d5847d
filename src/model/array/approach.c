/* approach.c: from a point that satisfies a derivative array to the one nearest to the start values
 * (model.h).
 *
 * By rank: start values given of unknowns that are differentiated, then those given of others, then
 * those assumed of unknowns that are differentiated. What counts less moves only along what it leaves
 * free of what counts more; unknowns of which nothing is known count for nothing. So values given
 * that are consistent stay.
 *
 * With B, a basis of what the constraints leave free, steps are those of least squares,
 *
 *     min | B_r z - (start - x)_r |,   B <- what of B does not move these,
 *
 * rank after rank, the last one by Levenberg and Marquardt's method. Where start values are nearly
 * consistent a search in which all count at once, by weights, goes a shorter way: the nearer end counts.
 */
#include "model/array/model.h"

#include "linear/lapack.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 60 };

static const double SEEN = 1e-9;   /* part of a direction that unknowns with a rank must have */
static const double MOVES = 1e-6;  /* ... that unknowns of one rank must have, to decide on it */
static const double THERE = 1e-10; /* steps, in units of sizes */
static const double DRIFT = 1e-8;  /* what counts more may move by */
static const double DAMPED = 1e-2, DAMPED_MOST = 1e3;

typedef struct nearest {
    model_array *k;
    int n, free;            /* columns of B */
    double *target;         /* of unknowns: start values, later what was reached */
    double *B, *turned, *A; /* n x n each: dx / metric; for work */
    double *S, *VT, *U, *right, *step, *work;
    double *good; /* coefficients of the last point */
    int lwork;
} nearest;

static bool nearest_open(nearest *w, model *m)
{
    size_t n = m->array->a.n, square = n * n, columns = (size_t)array_columns(&m->array->a);
    size_t work = 12 * n + 64;
    *w = (nearest){ .k = m->array, .n = (int)n, .lwork = (int)work };
    double *room = dae_alloc(&m->memory, 5 * square + 4 * n + work + columns + 1, sizeof *room);
    if (!room) return false;
    w->B = room;
    w->turned = room + square;
    w->A = room + 2 * square;
    w->U = room + 3 * square;
    w->VT = room + 4 * square;
    w->target = room + 5 * square;
    w->S = w->target + n;
    w->right = w->S + n;
    w->step = w->right + n;
    w->work = w->step + n;
    w->good = w->work + work;
    memcpy(w->target, m->array->guess, n * sizeof *room);
    return true;
}

/* Weighted, with initial equations: the decomposition at k->here. */
static bool look_held(model_array *k)
{
    k->here.extra = k->extra.rows ? &k->extra : NULL;
    array_put_weights(k, k->weight);
    return array_linearize(&k->here, &k->base) &&
           array_decompose(&k->base, array_point_rows(&k->here),
                           array_columns(&k->a) - (int)k->a.n);
}

/* ---------------------------------------------------------------- steps ----------------- */

/* The rows of B with ranks from .. to, decomposed; how many there are, -1: LAPACK gave up. */
static int decompose_rows(nearest *w, int from, int to)
{
    int rows = 0, info = 0;
    for (int j = 0; j < w->n; j++) rows += w->k->tier[j] >= from && w->k->tier[j] <= to;
    if (rows == 0 || w->free == 0) return 0;
    for (int j = 0, i = 0; j < w->n; j++) {
        if (w->k->tier[j] < from || w->k->tier[j] > to) continue;
        for (int c = 0; c < w->free; c++) w->A[i + c * rows] = w->B[j + c * w->n];
        i++;
    }
    dgesvd_("A", "A", &rows, &w->free, w->A, &rows, w->S, w->U, &rows, w->VT, &w->free, w->work,
            &w->lwork, &info);
    return info ? -1 : rows;
}

/* The columns first .. last - 1 of B V, divided by their singular values if `scaled`. */
static void turn_basis(nearest *w, int first, int last, bool scaled)
{
    for (int c = first; c < last; c++)
        for (int j = 0; j < w->n; j++) {
            double sum = 0;
            for (int l = 0; l < w->free; l++) sum += w->B[j + l * w->n] * w->VT[c + l * w->free];
            w->turned[j + (c - first) * w->n] = scaled ? sum / w->S[c] : sum;
        }
    w->free = last - first;
    memcpy(w->B, w->turned, (size_t)w->n * (size_t)w->free * sizeof *w->B);
}

/* What the constraints leave free, as far as unknowns with a rank move along it; they are
 * orthonormal in it. */
static bool find_basis(nearest *w)
{
    const array_base *b = &w->k->base;
    int n = w->n, seen = 0;
    w->free = n - b->constraints;
    for (int c = 0; c < w->free; c++)
        for (int j = 0; j < n; j++)
            w->B[j + c * n] = b->W[b->constraints + c + j * n] * w->k->weight[j];
    int rows = decompose_rows(w, TIER_FIRST, TIER_LAST), least = rows < w->free ? rows : w->free;
    if (rows < 0) return false;
    while (seen < least && w->S[seen] > SEEN * w->S[0]) seen++;
    turn_basis(w, 0, seen, true);
    return true;
}

/* Towards the targets of one rank, by what is free; that is less afterwards. */
static bool add_step(nearest *w, int tier, double damped)
{
    const model_array *k = w->k;
    int rows = decompose_rows(w, tier, tier), least = rows < w->free ? rows : w->free, used = 0;
    if (rows < 0) return false;
    if (rows == 0) return true;
    for (int j = 0, i = 0; j < w->n; j++)
        if (k->tier[j] == tier)
            w->right[i++] = (w->target[j] - k->here.c[j]) / k->metric[j] - w->step[j];
    for (; used < least && w->S[used] > MOVES; used++) {
        double sum = 0, s = w->S[used];
        for (int i = 0; i < rows; i++) sum += w->U[i + used * rows] * w->right[i];
        sum *= s / (s * s + damped * damped);
        for (int j = 0; j < w->n; j++)
            for (int l = 0; l < w->free; l++)
                w->step[j] += w->B[j + l * w->n] * w->VT[used + l * w->free] * sum;
    }
    turn_basis(w, used, w->free, false);
    return true;
}

/* Into w->step, in units of sizes: how long it is; -1: none. */
static double find_step(nearest *w, int tier, double damped)
{
    double most = 0;
    memset(w->step, 0, (size_t)w->n * sizeof *w->step);
    if (!look_held(w->k) || !find_basis(w)) return -1;
    for (int higher = TIER_FIRST; higher <= tier && w->free > 0; higher++)
        if (!add_step(w, higher, higher == tier ? damped : 0)) return -1;
    for (int j = 0; j < w->n; j++)
        if (w->k->tier[j] >= TIER_FIRST && w->k->tier[j] <= TIER_LAST)
            most = fmax(most, fabs(w->step[j]));
    return most;
}

/* ---------------------------------------------------------------- points ---------------- */

static double off(const nearest *w, int from, int to)
{
    const model_array *k = w->k;
    double sum = 0;
    for (int j = 0; j < w->n; j++)
        if (k->tier[j] >= from && k->tier[j] <= to)
            sum = hypot(sum, (k->here.c[j] - w->target[j]) / k->metric[j]);
    return sum;
}

static void put_step(nearest *w)
{
    model_array *k = w->k;
    memcpy(k->here.c, w->good, (size_t)array_columns(&k->a) * sizeof *w->good);
    for (int j = 0; j < w->n; j++)
        if (k->weight[j] > 0) k->here.c[j] += w->step[j] * k->metric[j];
}

/* Onto the array again: what counts more is held, or does not move. */
static bool settle(nearest *w, int tier)
{
    model_array *k = w->k;
    double rate;
    put_step(w);
    if (array_settle(&k->here, &k->base, &rate) && off(w, TIER_FIRST, tier - 1) <= DRIFT)
        return true;
    put_step(w);
    for (int j = 0; j < w->n; j++)
        if (k->tier[j] >= TIER_FIRST && k->tier[j] < tier) {
            k->here.c[j] = w->target[j];
            k->base.weight[j] = 0;
        }
    return array_satisfy(&k->here, &k->base, false);
}

static void approach_tier(nearest *w, int tier)
{
    model_array *k = w->k;
    double damped = 0, now = off(w, tier, tier);
    for (int round = 0; round < ROUNDS && now > THERE && damped < DAMPED_MOST; round++) {
        memcpy(w->good, k->here.c, (size_t)array_columns(&k->a) * sizeof *w->good);
        double far = find_step(w, tier, damped);
        if (far < THERE) break;
        double before = now;
        if (settle(w, tier) && (now = off(w, tier, tier)) < before) {
            damped = damped > DAMPED ? damped / 4 : 0;
            continue;
        }
        now = before;
        memcpy(k->here.c, w->good, (size_t)array_columns(&k->a) * sizeof *w->good);
        damped = fmax(DAMPED, 4 * damped);
    }
}

static void approach_by_rank(nearest *w)
{
    for (int tier = TIER_FIRST; tier <= TIER_LAST; tier++) {
        approach_tier(w, tier);
        for (int j = 0; j < w->n; j++)
            if (w->k->tier[j] == tier) w->target[j] = w->k->here.c[j];
    }
}

/* ---------------------------------------------------------------- by weights ------------ */

/* Towards the start values, along the constraints, into w->step; how far, in units of sizes. */
static double step_along(nearest *w)
{
    const model_array *k = w->k;
    const array_base *b = &k->base;
    double most = 0, *want = w->right;
    for (int j = 0; j < w->n; j++)
        want[j] = b->weight[j] > 0 ? (k->guess[j] - k->here.c[j]) / (b->size[j] * b->weight[j]) : 0;
    for (int j = 0; j < w->n; j++) {
        double sum = want[j];
        for (int r = 0; r < b->constraints; r++) {
            double dot = 0;
            for (int l = 0; l < w->n; l++) dot += b->W[r + l * w->n] * want[l];
            sum -= b->W[r + j * w->n] * dot;
        }
        w->step[j] = sum * b->size[j] * b->weight[j];
        most = fmax(most, fabs(w->step[j]) / k->metric[j]);
    }
    return most;
}

/* How far from the start values, what moves readily counting less. */
static double distance(const model_array *k)
{
    double sum = 0;
    for (size_t j = 0; j < k->a.n; j++)
        if (k->tier[j] >= TIER_FIRST && k->tier[j] <= TIER_LAST)
            sum = hypot(sum, (k->here.c[j] - k->guess[j]) / (k->metric[j] * k->weight[j]));
    return sum;
}

static void approach_by_weights(nearest *w)
{
    model_array *k = w->k;
    size_t bytes = (size_t)array_columns(&k->a) * sizeof *w->good;
    double part = 1, rate;
    for (int round = 0; round < ROUNDS && part > 1e-3; round++) {
        memcpy(w->good, k->here.c, bytes);
        if (!look_held(k) || step_along(w) < THERE) break;
        for (int j = 0; j < w->n; j++) k->here.c[j] += part * w->step[j];
        if (array_settle(&k->here, &k->base, &rate)) {
            part = fmin(1, 2 * part);
            continue;
        }
        memcpy(k->here.c, w->good, bytes);
        double before = distance(k);
        for (int j = 0; j < w->n; j++) k->here.c[j] += part * w->step[j];
        if (array_satisfy(&k->here, &k->base, false) && distance(k) < (1 - part / 4) * before)
            continue;
        memcpy(k->here.c, w->good, bytes);
        part /= 2;
    }
}

/* By weights the way is short where start values are nearly consistent; by rank they stay where they
 * are: the nearer of the two. */
void array_approach(model *m)
{
    nearest w;
    if (!nearest_open(&w, m)) return;
    model_array *k = m->array;
    size_t columns = (size_t)array_columns(&k->a), bytes = columns * sizeof *w.good;
    double *from = dae_alloc(&m->memory, 2 * columns + 1, sizeof *from);
    if (from) {
        double *one = from + columns;
        memcpy(from, k->here.c, bytes);
        approach_by_weights(&w);
        memcpy(one, k->here.c, bytes);
        double far = distance(k);
        memcpy(k->here.c, from, bytes);
        approach_by_rank(&w);
        if (!(distance(k) < far)) memcpy(k->here.c, one, bytes);
    }
    dae_free(&m->memory, from);
    dae_free(&m->memory, w.B);
}
