/* satisfy.c: points that satisfy a derivative array (array.h). */
#include "model/array/array.h"

#include "linear/lapack.h"
#include "model/loop/trust.h"

#include <math.h>
#include <string.h>

enum { NEWTON = 40, HALVINGS = 12, CHORDS = 25, PATIENCE = 3000 };

static const double SATISFIED = 1e-8; /* of what a change of the unknowns by their sizes makes */
static const double LEFT = 1e-7;      /* ... after chords */
static const double NOTHING = 1e-12;
static const double RANK = 1e-10;
static const double ROUNDED = 1e-9; /* what rounding may move x and x' by */
static const double FINAL = 1e-14;  /* ... that is none */

void array_point_open(array_point *p, dae_arena *arena, int rows, int columns)
{
    int most = rows > columns ? rows : columns;
    if (most <= p->most) return;
    double *c = dae_arena_take(arena, (size_t)most + 1, sizeof *c);
    if (p->most) memcpy(c, p->c, (size_t)p->most * sizeof *c);
    p->c = c;
    p->G = dae_arena_take(arena, (size_t)most + 1, sizeof *c);
    p->change = dae_arena_take(arena, (size_t)most + 1, sizeof *c);
    p->trial = dae_arena_take(arena, (size_t)most + 1, sizeof *c);
    p->most = most;
}

int array_point_rows(const array_point *p)
{
    return array_rows(p->a) + (p->extra ? p->extra->rows : 0);
}

static bool evaluate(array_point *p, const double *c, double *G, double *J)
{
    int rows = array_rows(p->a), all = array_point_rows(p);
    if (!array_evaluate(p->a, p->t, c, G, J, all)) return false;
    if (!p->extra) return true;
    for (int k = 0; J && k < array_columns(p->a); k++)
        memset(J + (size_t)rows + (size_t)k * (size_t)all, 0, (size_t)p->extra->rows * sizeof *J);
    return p->extra->evaluate(p->extra->user, c, G + rows, J ? J + rows : NULL, all);
}

bool array_linearize(array_point *p, array_base *b)
{
    return evaluate(p, p->c, p->G, b->J);
}

/* ---------------------------------------------------------------- Newton ---------------- */

static void scale(const array_point *p, array_base *b)
{
    array_scale(b, array_point_rows(p), array_columns(p->a) - b->n);
}

static double length(const array_point *p, const array_base *b, const double *G)
{
    double sum = 0;
    for (int i = 0; i < array_point_rows(p); i++) sum += G[i] * b->scale[i] * (G[i] * b->scale[i]);
    return sqrt(sum);
}

/* A change beside what is changed. */
static double relative(const array_point *p, const array_base *b, int k)
{
    return fabs(p->change[k]) / fmax(b->size[k % b->n], fabs(p->c[k]));
}

/* The shortest change that removes the linearized residuals, into p->change; its largest entry, -1:
 * no answer. */
static double newton_step(array_point *p, array_base *b)
{
    int rows = array_point_rows(p), columns = array_columns(p->a), one = 1, rank, info = 0;
    int tall = rows > columns ? rows : columns, lwork = b->lwork;
    double cut = RANK, most = 0;
    memcpy(b->copy, b->J, (size_t)rows * (size_t)columns * sizeof *b->copy);
    memset(b->pivot, 0, (size_t)columns * sizeof *b->pivot);
    memset(b->side, 0, (size_t)tall * sizeof *b->side);
    for (int i = 0; i < rows; i++) b->side[i] = -p->G[i] * b->scale[i];
    dgelsy_(&rows, &columns, &one, b->copy, &rows, b->side, &tall, b->pivot, &cut, &rank, b->work,
            &lwork, &info);
    if (info) return -1;
    for (int k = 0; k < columns; k++) {
        p->change[k] = b->side[k] * (k < b->n ? b->weight[k] : 1) * b->size[k % b->n];
        if (!isfinite(p->change[k])) return -1;
        most = fmax(most, relative(p, b, k));
    }
    return most;
}

/* As far along p->change as makes the residuals smaller. */
static bool walk(array_point *p, const array_base *b)
{
    int columns = array_columns(p->a);
    double before = length(p, b, p->G), part = 1;
    for (int round = 0; round < HALVINGS; round++, part /= 2) {
        for (int k = 0; k < columns; k++) p->trial[k] = p->c[k] + part * p->change[k];
        if (!evaluate(p, p->trial, p->G, NULL)) continue;
        double now = length(p, b, p->G);
        if (!(now <= (1 - part / 10) * before) && !(now < 1e-13)) continue;
        memcpy(p->c, p->trial, (size_t)columns * sizeof *p->c);
        return true;
    }
    return false;
}

int array_worst(array_point *p, const array_base *b, double *by)
{
    int worst = 0;
    *by = 0;
    for (int i = 0; i < array_point_rows(p); i++)
        if (fabs(p->G[i]) * b->scale[i] > *by) {
            *by = fabs(p->G[i]) * b->scale[i];
            worst = i;
        }
    return worst;
}

/* Nothing is left of the rows but a part of their terms. */
static bool is_left(const array_point *p, const array_base *b, double part)
{
    int rows = array_point_rows(p), columns = array_columns(p->a);
    for (int i = 0; i < rows; i++) {
        double sum = 1;
        for (int k = 0; k < columns; k++)
            sum = fmax(sum, fabs(b->J[(size_t)i + (size_t)k * (size_t)rows] * p->c[k]) /
                                b->size[k % b->n]);
        if (!(fabs(p->G[i]) * b->scale[i] <= part * sum)) return true;
    }
    return false;
}

static bool holds(const array_point *p, const array_base *b)
{
    return !is_left(p, b, SATISFIED);
}

/* Stage by stage (base.c): after many differentiations all rows at once tell rounding from nothing.
 * Ranks are those of a point that does not satisfy the array yet, and may be too large. */
static double staged_step(array_point *p, array_base *b)
{
    double most = 0;
    if (!array_decompose(b, array_point_rows(p), array_columns(p->a) - b->n)) return -1;
    array_correct(b, p->G, p->change);
    for (int k = 0; k < array_columns(p->a); k++) {
        if (!isfinite(p->change[k])) return -1;
        most = fmax(most, relative(p, b, k));
    }
    return most;
}

static bool newton(array_point *p, array_base *b, bool staged)
{
    double before = INFINITY;
    for (int round = 0; round < NEWTON; round++) {
        if (!array_linearize(p, b)) return false;
        if (!staged) scale(p, b);
        double moved = staged ? staged_step(p, b) : newton_step(p, b);
        if (moved < 0) return false;
        bool rounding = moved < 1e-10 && moved > before / 4;
        if (moved < 1e-14 || rounding) return holds(p, b);
        if (!walk(p, b)) /* or what is left is rounding, which moves the highest derivatives most */
            return (moved < 1e-9 && holds(p, b)) || (moved < 1e-5 && !is_left(p, b, NOTHING));
        before = moved;
    }
    return false;
}

/* ---------------------------------------------------------------- trust region ---------- */

typedef struct search {
    array_point *p;
    array_base *b;
    int *column, count; /* columns that move */
} search;

static void put(search *s, const double *u)
{
    for (int k = 0; k < s->count; k++) s->p->c[s->column[k]] = u[k];
}

static int search_values(void *user, const double *u, double *r)
{
    search *s = user;
    put(s, u);
    return evaluate(s->p, s->p->c, r, NULL) ? DAE_OK : DAE_RETRY;
}

static int search_slopes(void *user, double *J)
{
    search *s = user;
    size_t rows = (size_t)array_point_rows(s->p);
    if (!array_linearize(s->p, s->b)) return DAE_RETRY;
    for (int k = 0; k < s->count; k++)
        memcpy(J + (size_t)k * rows, s->b->J + (size_t)s->column[k] * rows, rows * sizeof *J);
    return DAE_OK;
}

/* Evaluations that a search may take: a step costs 2 (rows + columns) columns^2. */
static int patience(int rows, int columns)
{
    double step = 2.0 * (rows + columns) * columns * columns + 1;
    return (int)fmin(PATIENCE, fmax(20, 2e9 / step));
}

/* x that is held stays, all else moves. Newton's method, which knows when it is there, has the last
 * word. */
static bool trust(array_point *p, array_base *b)
{
    int columns = array_columns(p->a);
    size_t room = (size_t)columns + 1;
    search s = { .p = p, .b = b };
    double *u = dae_alloc(&p->a->memory, 4 * room + (size_t)array_point_rows(p), sizeof *u);
    s.column = dae_alloc(&p->a->memory, room, sizeof *s.column);
    trust_end end = TRUST_NO_MEMORY;
    if (u && s.column) {
        double *size = u + room, *low = size + room, *high = low + room, *r = high + room;
        for (int k = 0; k < columns; k++) {
            if (k < b->n && b->weight[k] == 0) continue;
            u[s.count] = p->c[k];
            size[s.count] = b->size[k % b->n];
            low[s.count] = -INFINITY;
            high[s.count] = INFINITY;
            s.column[s.count++] = k;
        }
        trust_problem problem = { .rows = array_point_rows(p),
                                  .columns = s.count,
                                  .evaluate = search_values,
                                  .jacobian = search_slopes,
                                  .size = size,
                                  .low = low,
                                  .high = high,
                                  .user = &s,
                                  .budget = patience(array_point_rows(p), s.count) };
        end = trust_solve(&problem, &p->a->memory, u, r);
        put(&s, u);
    }
    dae_free(&p->a->memory, u);
    dae_free(&p->a->memory, s.column);
    return end == TRUST_SOLVED;
}

bool array_satisfy(array_point *p, array_base *b, bool patient)
{
    size_t bytes = (size_t)array_columns(p->a) * sizeof(double);
    double *from = dae_alloc(&p->a->memory, (size_t)array_columns(p->a) + 1, sizeof *from);
    if (!from) return false;
    memcpy(from, p->c, bytes);
    bool good = newton(p, b, false);
    if (!good) {
        memcpy(p->c, from, bytes);
        good = newton(p, b, true);
    }
    if (!good && patient) {
        memcpy(p->c, from, bytes);
        good = trust(p, b);
        if (good) {
            memcpy(from, p->c, bytes);
            good = newton(p, b, false);
            if (!good) { /* a multiple root: steps are wild where the residuals are rounding */
                memcpy(p->c, from, bytes);
                good = array_linearize(p, b);
                scale(p, b);
                good = good && holds(p, b);
            }
        }
    }
    if (!good && array_linearize(p, b)) scale(p, b); /* for array_worst */
    dae_free(&p->a->memory, from);
    return good;
}

/* ---------------------------------------------------------------- chords ---------------- */

bool array_settle(array_point *p, array_base *b, double *rate)
{
    int columns = array_columns(p->a);
    double before = INFINITY, moved = 0, wanted = 0; /* wanted: x and x' */
    double wanted_before = INFINITY;
    *rate = 0;
    for (int round = 0; round < CHORDS; round++) {
        if (!evaluate(p, p->c, p->G, NULL)) return false;
        moved = wanted = 0;
        array_correct(b, p->G, p->change);
        for (int k = 0; k < columns; k++) {
            moved = fmax(moved, relative(p, b, k));
            if (k < 2 * b->n) wanted = moved;
            if (!isfinite(p->change[k])) return false;
            p->c[k] += p->change[k];
        }
        /* what the decomposition cannot remove has to be gone, too */
        if (moved < 1e-14) return !is_left(p, b, LEFT);
        if (round > 0) {
            /* rounding is what does not become smaller; chords from afar are slow, not there */
            bool there = wanted < ROUNDED && moved < 100 * ROUNDED;
            if (there && (wanted > wanted_before / 2 || wanted < FINAL))
                return !is_left(p, b, LEFT);
            if (!there) *rate = fmax(*rate, moved / before);
            if (!there && round > 1 && moved > before / 2) return false;
        }
        before = moved;
        wanted_before = wanted;
    }
    return wanted < ROUNDED && moved < 100 * ROUNDED && !is_left(p, b, LEFT);
}
