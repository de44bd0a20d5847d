/* pivots.c: elimination with a choice of columns; and the same again in a known order.
 *
 * Matrices here are those of differentiated constraints: hundreds of rows with three entries each.
 * The search is made on a full matrix with lists of the entries of rows and of columns, and a row is
 * searched again only where an elimination has touched it. After every step of a simulation the
 * question is whether the pivots found earlier are still large: that is answered with sparse rows and
 * no search.
 */
#include "model/reduce/pivots.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A class does not excuse a poor pivot. Above the quality at which a choice is given up (family.c):
 * were it below, a wish would choose the poor states again until they are singular. */
static const double EXCUSED = 0.3;

/* The best pivot of a row. */
typedef struct candidate {
    uint32_t column;
    int class;
    double size; /* relative to the largest entry of the row; 0: there is none */
} candidate;

struct pivot_room {
    uint32_t rows, columns;
    double *A;             /* rows x columns, 0 between searches */
    uint32_t *at, *count;  /* columns with an entry in row i begin at i columns; how many */
    uint32_t *in, *height; /* rows with an entry in column j begin at j rows; how many */
    double *kept;          /* once more: entries of eliminated rows, row after row, ... */
    uint32_t *kept_at;     /* ... their columns, ... */
    size_t *start;         /* ... and where rows begin */
    double *scale, *work, *pivot;
    unsigned char *used;
    candidate *of_row;
    uint32_t *match;        /* a tournament of rows: match k is between 2 k and 2 k + 1, the */
    uint32_t entrants;      /* ... last ones are of rows 2 i and 2 i + 1; 1 is the final */
    uint32_t *row, *column; /* of the part: numbers in the matrix */
    uint32_t *number;       /* of a column of the matrix: in the part */
    uint32_t *stamp, *list, now;
};

pivot_room *pivot_room_make(pivot_room *t, uint32_t rows, uint32_t columns, dae_arena *arena)
{
    if (t && t->rows >= rows && t->columns >= columns) return t;
    uint32_t most_rows = t && t->rows > rows ? t->rows : rows;
    uint32_t most_columns = t && t->columns > columns ? t->columns : columns;
    size_t n = most_rows, m = most_columns, all = n * m + 1;
    t = dae_arena_take(arena, 1, sizeof *t);
    t->rows = most_rows;
    t->columns = most_columns;
    t->A = dae_arena_take(arena, all, sizeof *t->A);
    t->at = dae_arena_take(arena, all, sizeof *t->at);
    t->kept = dae_arena_take(arena, all, sizeof *t->kept);
    t->kept_at = dae_arena_take(arena, all, sizeof *t->kept_at);
    t->start = dae_arena_take(arena, n + 2, sizeof *t->start);
    t->count = dae_arena_take(arena, n + 1, sizeof *t->count);
    t->in = dae_arena_take(arena, all, sizeof *t->in);
    t->height = dae_arena_take(arena, m + 1, sizeof *t->height);
    t->scale = dae_arena_take(arena, n + 1, sizeof *t->scale);
    t->work = dae_arena_take(arena, m + 1, sizeof *t->work);
    t->pivot = dae_arena_take(arena, n + 1, sizeof *t->pivot);
    t->used = dae_arena_take(arena, m + 1, 1);
    t->of_row = dae_arena_take(arena, n + 1, sizeof *t->of_row);
    t->match = dae_arena_take(arena, 2 * n + 2, sizeof *t->match);
    t->row = dae_arena_take(arena, n + 1, sizeof *t->row);
    t->column = dae_arena_take(arena, m + 1, sizeof *t->column);
    t->number = dae_arena_take(arena, m + 1, sizeof *t->number);
    t->stamp = dae_arena_take(arena, m + 1, sizeof *t->stamp);
    t->list = dae_arena_take(arena, m + 1, sizeof *t->list);
    return t;
}

void pivot_order_make(pivot_order *o, uint32_t rows, uint32_t columns, dae_arena *arena)
{
    o->row = dae_arena_take(arena, rows + 1, sizeof *o->row);
    o->column = dae_arena_take(arena, rows + 1, sizeof *o->column);
    o->place = dae_arena_take(arena, columns + 1, sizeof *o->place);
    o->count = 0;
}

/* ---------------------------------------------------------------- the search ------------ */

static double largest(const pivot_matrix *m, uint32_t row)
{
    double most = 0;
    for (size_t e = m->start[row]; e < m->start[row + 1]; e++)
        if (fabs(m->value[e]) > most) most = fabs(m->value[e]);
    return most;
}

static void put_into_lists(pivot_room *t, uint32_t i, uint32_t j, uint32_t columns)
{
    t->at[(size_t)i * columns + t->count[i]++] = j;
    t->in[(size_t)j * t->rows + t->height[j]++] = i;
}

/* The part as a full matrix. */
static void fill(pivot_room *t, const pivot_matrix *m, const pivot_part *part, uint32_t *rows,
                 uint32_t *columns)
{
    *rows = *columns = 0;
    for (uint32_t j = 0; j < m->columns; j++)
        if (part->column[j]) {
            t->number[j] = *columns;
            t->height[*columns] = 0;
            t->column[(*columns)++] = j;
        }
    for (uint32_t i = 0; i < m->rows; i++) {
        if (!part->row[i]) continue;
        double *to = t->A + (size_t)*rows * *columns;
        t->count[*rows] = 0;
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++) {
            if (!part->column[m->at[e]] || m->value[e] == 0) continue;
            to[t->number[m->at[e]]] = m->value[e];
            put_into_lists(t, *rows, t->number[m->at[e]], *columns);
        }
        t->scale[*rows] = largest(m, i);
        t->row[(*rows)++] = i;
    }
}

static void clear(pivot_room *t, uint32_t rows, uint32_t columns)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t q = 0; q < t->count[i]; q++) t->A[i * columns + t->at[i * columns + q]] = 0;
}

static bool is_better(const candidate *a, const candidate *b)
{
    if (a->size == 0 || b->size == 0) return a->size > 0;
    return a->class < b->class || (a->class == b->class && a->size > b->size * 1.0001);
}

static candidate best_of_row(const pivot_room *t, uint32_t i, uint32_t columns, const int *class_of)
{
    const double *row = t->A + (size_t)i * columns;
    const uint32_t *list = t->at + (size_t)i * columns;
    candidate best = { 0 };
    double most = 0;
    for (uint32_t q = 0; q < t->count[i]; q++)
        if (!t->used[list[q]] && fabs(row[list[q]]) > most) most = fabs(row[list[q]]);
    if (most <= 1e-13 * t->scale[i]) return best;
    for (uint32_t q = 0; q < t->count[i]; q++) {
        uint32_t j = list[q];
        if (t->used[j] || fabs(row[j]) < EXCUSED * most) continue;
        candidate here = { j, class_of ? class_of[t->column[j]] : 0, fabs(row[j]) / most };
        bool earlier = best.size > 0 && j < best.column && !is_better(&best, &here);
        if (is_better(&here, &best) || earlier) best = here; /* of equal ones the first */
    }
    return best;
}

/* The best row is asked for after every elimination, which has touched a few rows only. */
static uint32_t winner(const pivot_room *t, uint32_t k)
{
    return k < t->entrants ? t->match[k] : k - t->entrants;
}

static void play(pivot_room *t, uint32_t k)
{
    uint32_t a = winner(t, 2 * k), b = winner(t, 2 * k + 1);
    uint32_t first = a < b ? a : b, second = a < b ? b : a; /* of equal ones the first */
    t->match[k] = is_better(&t->of_row[second], &t->of_row[first]) ? second : first;
}

static void play_all(pivot_room *t, uint32_t rows)
{
    t->entrants = rows;
    for (uint32_t k = rows - 1; k > 0; k--) play(t, k);
}

static void play_again(pivot_room *t, uint32_t i)
{
    for (uint32_t k = (i + t->entrants) / 2; k > 0; k /= 2) play(t, k);
}

/* Row i minus f times the pivot's, where columns are still in question. A place where entries cancel
 * stays in the list: it holds next to nothing instead of 0. */
static void subtract(pivot_room *t, uint32_t i, double f, uint32_t pivot, uint32_t columns)
{
    double *row = t->A + (size_t)i * columns;
    const double *from = t->A + (size_t)pivot * columns;
    const uint32_t *of_pivot = t->at + (size_t)pivot * columns;
    for (uint32_t q = 0; q < t->count[pivot]; q++) {
        uint32_t j = of_pivot[q];
        if (t->used[j]) continue;
        if (row[j] == 0) put_into_lists(t, i, j, columns);
        row[j] -= f * from[j];
        if (row[j] == 0) row[j] = DBL_MIN;
    }
}

/* The worst pivot, relative to its row; 0: there is none for a row. */
static double eliminate(pivot_room *t, uint32_t rows, uint32_t columns, const int *class_of,
                        pivot_order *order)
{
    double worst = INFINITY;
    for (uint32_t i = 0; i < rows; i++) t->of_row[i] = best_of_row(t, i, columns, class_of);
    if (rows > 0) play_all(t, rows);
    for (uint32_t step = 0; step < rows; step++) {
        uint32_t best = winner(t, 1), column = t->of_row[best].column;
        if (t->of_row[best].size == 0) return 0;
        const double *from = t->A + (size_t)best * columns;
        worst = fmin(worst, fabs(from[column]) / t->scale[best]);
        order->least = fmin(order->least, fabs(from[column]));
        t->used[column] = 1;
        t->of_row[best].size = 0; /* done */
        play_again(t, best);
        order->row[order->count] = t->row[best];
        order->column[order->count++] = t->column[column];
        order->place[t->column[column]] = order->count;
        for (uint32_t q = 0; q < t->height[column]; q++) {
            uint32_t i = t->in[(size_t)column * t->rows + q];
            if (t->of_row[i].size == 0) continue;
            subtract(t, i, t->A[(size_t)i * columns + column] / from[column], best, columns);
            t->of_row[i] = best_of_row(t, i, columns, class_of);
            play_again(t, i);
        }
    }
    return worst;
}

double pivots_find(pivot_room *t, const pivot_matrix *m, const pivot_part *part, pivot_order *order)
{
    uint32_t rows, columns;
    fill(t, m, part, &rows, &columns);
    memset(t->used, 0, columns);
    memset(order->place, 0, m->columns * sizeof *order->place);
    order->count = 0;
    order->least = rows ? INFINITY : 0;
    double worst = eliminate(t, rows, columns, part->class_of, order);
    clear(t, rows, columns);
    order->whole = worst > 0;
    if (!order->whole) order->least = 0;
    return worst;
}

/* ---------------------------------------------------------------- once more ------------- */

static void add_to(pivot_room *t, uint32_t column, double value, uint32_t *count)
{
    if (t->stamp[column] != t->now) {
        t->stamp[column] = t->now;
        t->work[column] = 0;
        t->list[(*count)++] = column;
    }
    t->work[column] += value;
}

/* The first pivot whose column is still in the row; 0: none before `end`. */
static uint32_t first_pivot(const pivot_room *t, const pivot_order *order, uint32_t count,
                            uint32_t end)
{
    uint32_t first = end;
    for (uint32_t q = 0; q < count; q++) {
        uint32_t place = order->place[t->list[q]];
        if (place < first && t->work[t->list[q]] != 0) first = place;
    }
    return first < end ? first : 0;
}

double pivots_again(pivot_room *t, const pivot_matrix *m, const pivot_order *order, int *sign)
{
    double worst = INFINITY;
    size_t kept = 0;
    int product = 1, ignored;
    if (!sign) sign = &ignored;
    *sign = 0;
    if (!order->whole) return 0;
    t->start[0] = 0;
    for (uint32_t s = 1; s <= order->count; s++) { /* places count from 1 */
        uint32_t row = order->row[s - 1], count = 0, p;
        if (++t->now == 0) { /* once in four billion rows */
            memset(t->stamp, 0, t->columns * sizeof *t->stamp);
            t->now = 1;
        }
        for (size_t e = m->start[row]; e < m->start[row + 1]; e++)
            if (order->place[m->at[e]]) add_to(t, m->at[e], m->value[e], &count);
        while ((p = first_pivot(t, order, count, s)) > 0) {
            uint32_t column = order->column[p - 1];
            double f = t->work[column] / t->pivot[p - 1];
            for (size_t e = t->start[p - 1]; e < t->start[p]; e++)
                add_to(t, t->kept_at[e], -f * t->kept[e], &count);
            t->work[column] = 0;
        }
        for (uint32_t q = 0; q < count; q++) {
            if (t->work[t->list[q]] == 0) continue;
            t->kept_at[kept] = t->list[q];
            t->kept[kept++] = t->work[t->list[q]];
        }
        t->start[s] = kept;
        uint32_t own = order->column[s - 1];
        t->pivot[s - 1] = t->stamp[own] == t->now ? t->work[own] : 0;
        worst = fmin(worst, fabs(t->pivot[s - 1]) / largest(m, row));
        if (!(worst > 0)) return 0;
        if (t->pivot[s - 1] < 0) product = -product;
    }
    *sign = product;
    return worst;
}

/* ---------------------------------------------------------------- beside sizes ---------- */

typedef struct sized {
    uint32_t rows, columns;
    double *A, *S;          /* entries and their sizes, full */
    double *of_row, *score; /* largest entry of a row as it was; the best pivot of a row, 0: none */
    uint32_t *best, *used;  /* ... its column; of columns: there was a pivot */
    bool plain;
} sized;

static void look(sized *w, uint32_t i)
{
    const double *a = w->A + (size_t)i * w->columns, *s = w->S + (size_t)i * w->columns;
    w->score[i] = 0;
    for (uint32_t j = 0; j < w->columns; j++) {
        if (w->used[j] || !(s[j] > 0)) continue;
        double here = fabs(a[j]) / (w->plain ? w->of_row[i] : s[j]);
        if (!(here > w->score[i])) continue;
        w->score[i] = here;
        w->best[i] = j;
    }
}

/* Row i minus its part of the pivot's. */
static void subtract_sized(sized *w, uint32_t i, uint32_t p, uint32_t q)
{
    double *a = w->A + (size_t)i * w->columns, *s = w->S + (size_t)i * w->columns;
    const double *b = w->A + (size_t)p * w->columns, *u = w->S + (size_t)p * w->columns;
    double f = a[q] / b[q], g = s[q] / u[q];
    for (uint32_t j = 0; j < w->columns; j++) {
        if (w->used[j] || !(u[j] > 0)) continue;
        a[j] -= f * b[j];
        s[j] = fmax(s[j], g * u[j]);
    }
}

double pivots_beside(const pivot_matrix *m, const double *size, const unsigned char *row,
                     bool plain, double enough, double *work, uint32_t *place)
{
    size_t all = (size_t)m->rows * m->columns;
    sized w = { .columns = m->columns, .A = work, .S = work + all, .plain = plain };
    w.of_row = work + 2 * all;
    w.score = w.of_row + m->rows;
    w.best = place;
    w.used = place + m->rows;
    memset(work, 0, 2 * all * sizeof *work);
    memset(w.used, 0, m->columns * sizeof *w.used);
    for (uint32_t i = 0; i < m->rows; i++) {
        if (!row[i]) continue;
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++) {
            w.A[(size_t)w.rows * m->columns + m->at[e]] = m->value[e];
            w.S[(size_t)w.rows * m->columns + m->at[e]] = size[e];
        }
        w.of_row[w.rows] = largest(m, i);
        look(&w, w.rows++);
    }
    double worst = INFINITY;
    for (uint32_t step = 0; step < w.rows && worst >= enough; step++) {
        uint32_t p = 0;
        for (uint32_t i = 1; i < w.rows; i++)
            if (w.score[i] > w.score[p]) p = i;
        if (!(w.score[p] > 0)) return 0;
        uint32_t q = w.best[p];
        size_t at = (size_t)p * m->columns + q;
        worst = fmin(worst, fabs(w.A[at]) / w.S[at]);
        w.score[p] = -1; /* done */
        w.used[q] = 1;
        for (uint32_t i = 0; i < w.rows; i++) {
            if (w.score[i] < 0) continue;
            if (w.S[(size_t)i * m->columns + q] > 0) subtract_sized(&w, i, p, q);
            if (w.S[(size_t)i * m->columns + q] > 0 || w.best[i] == q) look(&w, i);
        }
    }
    return worst;
}
