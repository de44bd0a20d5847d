/* series.c: the Taylor series of a solution, coefficient after coefficient (array.h).
 *
 * If the offsets c_i, d_j of the equations are right (Pryce, BIT 41 (2001) 364), row i at order
 * c_i + k holds no coefficient of x_j beyond d_j + k, and those of order d_j + k enter by the
 * system Jacobian alone: regular, it determines them, linearly from k = 1 on. So a point that
 * satisfies the array up to any order costs a linear system of n unknowns per order, where Newton's
 * method for all of them together, begun with derivatives that are 0, may lead nowhere.
 */
#include "linear/lapack.h"
#include "model/array/array.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 8, LONGEST = 40 };

static const double REGULAR = 1e-6; /* reciprocal condition of the system Jacobian, scaled */
static const double SETTLED = 1e-8; /* a change beside what is changed: a stage is done */

typedef struct series {
    derivative_array *a;
    const uint32_t *c, *d; /* offsets of rows, of columns */
    uint32_t most;         /* the largest of c */
    double t, *x;          /* coefficients */
    double *G, *J, *A;     /* rows; F_x and F_x'; the system Jacobian, decomposed */
    double *row, *column, *side, *work;
    int *pivot, *iwork;
} series;

/* Of stage k: rows at order c_i + k by x_j at order d_j + k. */
static bool fill(series *s, uint32_t k)
{
    uint32_t n = s->a->n;
    s->a->level = 0;
    if (!array_evaluate(s->a, s->t, s->x, s->G, s->J, (int)n)) return false;
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < n; i++) {
            size_t at = i + (size_t)j * n;
            s->A[at] = s->d[j] == s->c[i]       ? s->J[at]
                       : s->d[j] == s->c[i] + 1 ? s->J[at + (size_t)n * n] * (s->d[j] + k)
                                                : 0;
        }
    return true;
}

/* In units of its own: those of a long chain differ by what its links do, multiplied. */
static void balance(series *s)
{
    size_t n = s->a->n;
    array_level(s->A, n, s->row, s->column, s->work);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) s->A[i + j * n] *= s->row[i] * s->column[j];
}

/* The system Jacobian of stage k decomposed; false: it is singular, or nearly. */
static bool decompose(series *s, uint32_t k)
{
    int n = (int)s->a->n, info = 0;
    double norm = 0, rcond = 0;
    if (!fill(s, k)) return false;
    balance(s);
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += fabs(s->A[(size_t)i + (size_t)j * (size_t)n]);
        norm = fmax(norm, sum);
    }
    if (!isfinite(norm)) return false;
    dgetrf_(&n, &n, s->A, &n, s->pivot, &info);
    if (info) return false;
    dgecon_("1", &n, s->A, &n, &norm, &rcond, s->work, s->iwork, &info, 1);
    return info == 0 && rcond > REGULAR;
}

/* Coefficients of order d_j + k corrected once; the largest change, relative; -1: none. */
static double correct(series *s, uint32_t k)
{
    int n = (int)s->a->n, one = 1, info = 0;
    double most = 0;
    s->a->level = (int)(s->most + k);
    if (!array_evaluate(s->a, s->t, s->x, s->G, NULL, 0)) return -1;
    for (int i = 0; i < n; i++)
        s->side[i] = -s->G[(size_t)(s->c[i] + k) * (size_t)n + (size_t)i] * s->row[i];
    dgetrs_("N", &n, &one, s->A, &n, s->pivot, s->side, &n, &info, 1);
    if (info) return -1;
    for (int j = 0; j < n; j++) {
        double *x = &s->x[(size_t)(s->d[j] + k) * (size_t)n + (size_t)j];
        double change = s->side[j] * s->column[j];
        if (!isfinite(change)) return -1;
        *x += change;
        most = fmax(most, fabs(change) / fmax(1, fabs(*x)));
    }
    return most;
}

/* What the first stage may have to be solved for is not linear. */
static bool run(series *s, uint32_t stages)
{
    for (uint32_t k = 0; k <= stages; k++) {
        double moved = INFINITY;
        for (int round = 0; round < ROUNDS && moved > SETTLED; round++) {
            if ((round == 0 || k == 0) && !decompose(s, k)) return false;
            moved = correct(s, k);
            if (moved < 0) return false;
        }
        if (!(moved <= SETTLED)) return false;
    }
    return true;
}

bool array_find_series(derivative_array *a, double t, const uint32_t *c, const uint32_t *d,
                       int orders, double *x)
{
    size_t n = a->n;
    uint32_t most = 0, least = UINT32_MAX, far = 0;
    int level = a->level;
    for (size_t i = 0; i < n; i++) {
        most = c[i] > most ? c[i] : most;
        far = d[i] > far ? d[i] : far;
        least = d[i] < least ? d[i] : least;
    }
    uint32_t stages = orders > (int)least ? (uint32_t)orders - least : 0;
    uint32_t highest = most + stages, last = (highest > far + stages ? highest : far + stages) + 1;
    if (n == 0 || highest > LONGEST || !array_reach(a, (int)highest)) return false;
    size_t room = (size_t)(last + 1) * n;
    double *block = dae_alloc(&a->memory, 2 * room + 3 * n * n + 7 * n + 1, sizeof *block);
    int *whole = dae_alloc(&a->memory, 2 * n + 1, sizeof *whole);
    series s = { .a = a, .c = c, .d = d, .most = most, .t = t };
    bool good = block && whole;
    if (good) {
        s.x = block, s.G = s.x + room, s.J = s.G + room, s.A = s.J + 2 * n * n;
        s.row = s.A + n * n, s.column = s.row + n, s.side = s.column + n, s.work = s.side + n;
        s.pivot = whole, s.iwork = whole + n;
        for (size_t j = 0; j < n; j++)
            for (size_t m = 0; m <= d[j] && m <= (size_t)orders; m++) s.x[m * n + j] = x[m * n + j];
        good = run(&s, stages);
    }
    if (good) memcpy(x, s.x, (size_t)(orders + 1) * n * sizeof *x);
    dae_free(&a->memory, block);
    dae_free(&a->memory, whole);
    a->level = level;
    return good;
}
