/* index.c: the differential index of the equations as written, where it can be had.
 *
 * With a regular system Jacobian it is at most the structural index (Pryce; where equations were
 * combined the derivatives in the combinations count, too), and it may be smaller by any amount
 * (Reissig, Martinson, Barton, SIAM J. Sci. Comput. 21 (2000) 1987). For E x' + A x = f with
 * constant matrices it is the number of times that the rows without x' have to be differentiated
 * to make E regular (Luenberger's shuffle):
 *
 *     [E1]      [A1]            [E1]      [A1]
 *     [ 0] x' + [A2] x = f  ->  [A2] x' + [ 0] x = f
 *
 * For other equations it is the smallest k such that F = 0, F' = 0, ..., F^(k) = 0 determine x'
 * where x is given (Campbell and Gear, Numer. Math. 72 (1995) 173): the derivatives of this
 * array by x' and by everything above have the rank n + the rank of those by everything above
 * alone. Second derivatives in F: x, x' then count as x, and x'' as x'. The rank is that at
 * points near the start values, consistent or not, as the definition wants it. Where no clear
 * gap parts the pivots that count from those that do not, nothing is claimed but what smaller k
 * have shown.
 */
#include "model/regular/object.h"

#include <math.h>
#include <string.h>

/* Unknowns; those of nonlinear equations; rows of an array. */
enum { LARGEST = 80, NONLINEAR = 40, ROWS = 400 };

typedef struct pencil {
    uint32_t n;
    uint32_t *place;   /* of a column: where its x_j^(0) is */
    uint32_t *highest; /* of a column: the order of the last one among the unknowns */
    double *E, *A;     /* n x n */
} pencil;

/* x_j, x_j', ... below the highest derivative are the unknowns. */
static bool lay_out(regular *w, pencil *q)
{
    uint32_t columns = w->s.columns;
    if (columns > LARGEST) return false;
    q->place = dae_arena_take(&w->scratch, columns + 1, sizeof *q->place);
    q->highest = dae_arena_take(&w->scratch, columns + 1, sizeof *q->highest);
    for (size_t k = 0; k < w->s.start[w->s.rows]; k++) {
        uint32_t below = w->s.order[k] ? w->s.order[k] - 1u : 0;
        if (below > q->highest[w->s.column[k]]) q->highest[w->s.column[k]] = below;
    }
    for (uint32_t j = 0; j < columns; j++) {
        q->place[j] = q->n;
        q->n += q->highest[j] + 1;
    }
    return q->n <= LARGEST;
}

/* E and A from the derivatives by all leaves. */
static void fill_in(regular *w, pencil *q, const ex_id *leaf, size_t leaves, const double *T)
{
    uint32_t n = q->n, row = w->s.rows;
    q->E = dae_arena_take(&w->scratch, (size_t)n * n + 1, sizeof *q->E);
    q->A = dae_arena_take(&w->scratch, (size_t)n * n + 1, sizeof *q->A);
    for (uint32_t i = 0; i < w->s.rows; i++)
        for (size_t l = 0; l < leaves; l++) {
            const ex_node *x = ex_at(w->g, leaf[l]);
            uint32_t j = w->s.column_of[x->a], at = q->place[j];
            if (x->b > q->highest[j])
                q->E[(size_t)i * n + at + q->highest[j]] = T[i * leaves + l];
            else
                q->A[(size_t)i * n + at + x->b] = T[i * leaves + l];
        }
    for (uint32_t j = 0; j < w->s.columns; j++)
        for (uint32_t k = 0; k < q->highest[j]; k++, row++) {
            q->E[(size_t)row * n + q->place[j] + k] = 1;
            q->A[(size_t)row * n + q->place[j] + k + 1] = -1;
        }
}

/* One shuffle; the rank of E before it. */
static uint32_t shuffle(regular *w, pencil *q)
{
    uint32_t n = q->n, rank;
    double *C = dae_arena_take(&w->scratch, (size_t)n * n + 1, sizeof *C);
    unsigned char *stays = dae_arena_take(&w->scratch, n + 1, 1);
    rank = regular_reduce_rows(&w->scratch, q->E, n, C, stays);
    double *E = dae_arena_take(&w->scratch, (size_t)n * n + 1, sizeof *E);
    double *A = dae_arena_take(&w->scratch, (size_t)n * n + 1, sizeof *A);
    for (uint32_t i = 0; i < n; i++) {
        const double *from[2] = { q->E + (size_t)i * n, q->A + (size_t)i * n };
        double *row = E + (size_t)i * n;
        if (stays[i]) {
            memcpy(row, from[0], n * sizeof *row);
            memcpy(A + (size_t)i * n, from[1], n * sizeof *row);
            continue;
        }
        for (uint32_t k = 0; k < n; k++) /* a combination without x', differentiated */
            for (uint32_t j = 0; j < n; j++)
                row[j] += C[(size_t)i * n + k] * q->A[(size_t)k * n + j];
        double size = 0;
        for (uint32_t j = 0; j < n; j++) size = fmax(size, fabs(row[j]));
        for (uint32_t j = 0; j < n; j++)
            row[j] = fabs(row[j]) <= 1e-13 * size || size == 0 ? 0 : row[j] / size;
    }
    q->E = E;
    q->A = A;
    return rank;
}

/* How many shuffles it takes, `most` at most; -1: more. */
static int count_shuffles(regular *w, pencil *q, int most)
{
    for (int k = 0; k <= most; k++)
        if (shuffle(w, q) == q->n) return k;
    return -1;
}

static bool same(const double *a, const double *b, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (fabs(a[k] - b[k]) > 1e-12 * (fabs(a[k]) + fabs(b[k]))) return false;
    return true;
}

/* ---------------------------------------------------------------- derivative arrays ----- */

/* A rank is clear if its smallest pivot is at least this. */
static const double CLEAR = 1e-9;

/* The rank of the columns from `skip` on. */
static uint32_t rank_behind(regular *w, const double *T, uint32_t rows, uint32_t columns,
                            uint32_t skip, bool *clear)
{
    double *A = dae_arena_take(&w->scratch, (size_t)rows * (columns - skip) + 1, sizeof *A), kept,
           dropped;
    for (uint32_t i = 0; i < rows; i++)
        memcpy(A + (size_t)i * (columns - skip), T + (size_t)i * columns + skip,
               (columns - skip) * sizeof *A);
    uint32_t rank = regular_count_rank(&w->scratch, A, rows, columns - skip, &kept, &dropped);
    *clear = *clear && (rank == 0 || kept >= CLEAR);
    return rank;
}

typedef enum answer { NO, YES, UNCLEAR } answer;

/* Does the array with k derivatives determine x'? */
static answer determines(regular *w, const pencil *q, const ex_id *array, uint32_t k)
{
    uint32_t n = w->s.columns, rows = w->s.rows * (k + 1), columns = n * (k + 1);
    double *T[ALL_POINTS];
    bool clear = true, known = false, full = true;
    ex_id *leaf = dae_arena_take(&w->scratch, columns + 1, sizeof *leaf);
    for (uint32_t m = 0; m <= k; m++)
        for (uint32_t j = 0; j < n; j++)
            leaf[m * n + j] = ex_variable(w->g, w->s.variable[j], q->highest[j] + 1 + m, EX_REAL);
    regular_tangents(w, array, rows, leaf, columns, POINTS, T);
    for (int p = 0; p < POINTS; p++) {
        if (!T[p]) continue;
        known = true;
        uint32_t all = rank_behind(w, T[p], rows, columns, 0, &clear);
        full = full && all == n + rank_behind(w, T[p], rows, columns, n, &clear);
    }
    return !known || !clear ? UNCLEAR : full ? YES : NO;
}

/* Bounds: what k have shown that it is not, or is. */
static void index_by_arrays(regular *w, const pencil *q, const ex_id *F)
{
    flat_regular *o = w->out;
    uint32_t n = w->s.rows;
    ex_id *array = dae_arena_take(&w->scratch, (size_t)ROWS + n + 1, sizeof *array);
    memcpy(array, F, n * sizeof *array);
    if (n > NONLINEAR) return;
    for (int k = 0; (k < o->most || o->most < 0) && (uint32_t)(k + 2) * n <= ROWS; k++) {
        answer a = determines(w, q, array, (uint32_t)k);
        if (a == YES) o->most = k;
        if (a != NO) return;
        o->least = k + 1;
        ex_id *next = array + (size_t)(k + 1) * n;
        memcpy(next, next - n, n * sizeof *next);
        if (!regular_differentiate(w, next, n, 1)) return;
    }
}

/* ---------------------------------------------------------------- the index ------------- */

static size_t list_leaves(regular *w, const pencil *q, ex_id *leaf)
{
    size_t count = 0;
    for (uint32_t j = 0; j < w->s.columns; j++)
        for (uint32_t k = 0; k <= q->highest[j] + 1; k++)
            leaf[count++] = ex_variable(w->g, w->s.variable[j], k, EX_REAL);
    return count;
}

void regular_find_index(regular *w)
{
    flat_regular *o = w->out;
    pencil q = { 0 };
    double *T[ALL_POINTS], *first = NULL;
    bool constant = true;
    int found = -1;
    o->most = o->left_out ? -1 : o->bound;
    o->least = 0;
    flat_find_signature(w->m, &w->s);
    if (!lay_out(w, &q)) return;
    ex_id *F = dae_arena_take(&w->scratch, w->s.rows + 1, sizeof *F);
    ex_id *leaf = dae_arena_take(&w->scratch, q.n + w->s.columns + 1, sizeof *leaf);
    size_t leaves = list_leaves(w, &q, leaf);
    for (uint32_t i = 0; i < w->s.rows; i++) F[i] = regular_residual(w, i);
    regular_tangents(w, F, w->s.rows, leaf, leaves, POINTS, T);
    for (int p = 0; p < POINTS; p++) {
        if (!T[p]) continue;
        if (!first) first = T[p];
        constant = constant && same(T[p], first, w->s.rows * leaves);
    }
    if (first && constant) {
        fill_in(w, &q, leaf, leaves, first);
        found = count_shuffles(w, &q, LARGEST);
    } else if (first) {
        index_by_arrays(w, &q, F);
    }
    if (found >= 0) o->least = o->most = found;
}
