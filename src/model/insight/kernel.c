/* kernel.c: constant coefficients: the space that the values of solutions fill.
 *
 * All F_i^(k), k <= c_i, are linear in all x_j^(l), l <= d_j. What solves them with right side 0
 * has the dimension of the freedom; N are its vectors, and of these V has the rows of the values
 * x_j, algebraic ones too. Some variables can be given initial values together if their rows of V are
 * independent, and determine everything else if these are as many as there are columns. That is so
 * at every time: nothing of it depends on a start.
 *
 * Rows of V have length 1, or 0 where a variable cannot be chosen at all; its columns are then made
 * orthogonal, so pivots of some of its rows say how independent these are.
 */
#include "model/insight/insight.h"

#include <math.h>
#include <string.h>

enum { MOST = 200 };

static const double LOST = 1e-9; /* of what was there: rounding */

/* A number for everything: only parameters matter. */
static double anywhere(const ex_node *leaf, void *user)
{
    const insight *k = user;
    double value = insight_unknown(k, leaf) ? 0.5 : insight_value(k, leaf);
    return isfinite(value) ? value : 0.5;
}

static double *linearize(insight *k, size_t rows, size_t columns)
{
    const flat_signature *s = k->s;
    ex_id *residual = dae_arena_take(k->arena, rows + 1, sizeof *residual);
    ex_id *leaf = dae_arena_take(k->arena, columns + 1, sizeof *leaf);
    double *J = dae_arena_take(k->arena, rows * columns + 1, sizeof *J);
    double *r = dae_arena_take(k->arena, rows + 1, sizeof *r);
    size_t at = 0;
    for (uint32_t j = 0; j < s->columns; j++)
        for (uint32_t l = 0; l <= s->d[j]; l++)
            leaf[at++] = ex_variable(k->g, s->variable[j], l, EX_REAL);
    at = 0;
    for (uint32_t i = 0; i < s->rows; i++)
        for (uint32_t t = 0; t <= s->c[i]; t++)
            residual[at++] = s->c[i] ? ex_binary(k->g, EX_SUBTRACT, s->left[i][t], s->right[i][t])
                                     : insight_residual(k, &k->flat->equation[s->equation[i]]);
    return insight_evaluate(k, residual, rows, leaf, columns, anywhere, k, r, J) ? J : NULL;
}

static void exchange(double *a, double *b, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++) {
        double swap = a[i * stride];
        a[i * stride] = b[i * stride];
        b[i * stride] = swap;
    }
}

/* A becomes (I, B) but for the order of its columns; false: its rows depend on each other. */
static bool reduce(double *A, size_t rows, size_t columns, size_t *order)
{
    double first = 0;
    for (size_t j = 0; j < columns; j++) order[j] = j;
    for (size_t i = 0; i < rows; i++) {
        double most = 0;
        for (size_t j = 0; j < columns; j++) most = fmax(most, fabs(A[i * columns + j]));
        for (size_t j = 0; j < columns && most > 0; j++) A[i * columns + j] /= most;
    }
    for (size_t p = 0; p < rows; p++) {
        size_t r = p, c = p;
        for (size_t i = p; i < rows; i++)
            for (size_t j = p; j < columns; j++)
                if (fabs(A[i * columns + j]) > fabs(A[r * columns + c])) r = i, c = j;
        double pivot = A[r * columns + c];
        first = fmax(first, fabs(pivot));
        if (!(fabs(pivot) > LOST * first)) return false;
        exchange(A + p * columns, A + r * columns, columns, 1);
        exchange(A + p, A + c, rows, columns);
        size_t swap = order[p];
        order[p] = order[c];
        order[c] = swap;
        for (size_t j = 0; j < columns; j++) A[p * columns + j] /= pivot;
        for (size_t i = 0; i < rows; i++) {
            double f = i == p ? 0 : A[i * columns + p];
            for (size_t j = p; f != 0 && j < columns; j++)
                A[i * columns + j] -= f * A[p * columns + j];
        }
    }
    return true;
}

/* The rows of length 1, those that are only rounding 0. */
static void scale_rows(double *V, size_t rows, size_t columns)
{
    double most = 0;
    for (size_t i = 0; i < rows * columns; i++) most = fmax(most, fabs(V[i]));
    for (size_t i = 0; i < rows; i++) {
        double square = 0;
        for (size_t j = 0; j < columns; j++) square += V[i * columns + j] * V[i * columns + j];
        double by = sqrt(square) > LOST * most ? 1 / sqrt(square) : 0;
        for (size_t j = 0; j < columns; j++) V[i * columns + j] *= by;
    }
}

/* Orthogonal columns of length 1, twice for rounding; 0 what depends on those before. */
static void orthogonalize(double *V, size_t rows, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        double before = 0, after = 0;
        for (size_t i = 0; i < rows; i++) before += V[i * columns + j] * V[i * columns + j];
        for (size_t l = 0; l < 2 * j; l++) {
            double dot = 0;
            for (size_t i = 0; i < rows; i++) dot += V[i * columns + l % j] * V[i * columns + j];
            for (size_t i = 0; i < rows; i++) V[i * columns + j] -= dot * V[i * columns + l % j];
        }
        for (size_t i = 0; i < rows; i++) after += V[i * columns + j] * V[i * columns + j];
        double by = after > LOST * LOST * before ? 1 / sqrt(after) : 0;
        for (size_t i = 0; i < rows; i++) V[i * columns + j] *= by;
    }
}

double *insight_kernel(insight *k, size_t *freedom)
{
    const flat_signature *s = k->s;
    size_t rows = 0, columns = 0;
    if (k->out.linear != 1 || s->rows == 0 || s->rows != s->columns) return NULL;
    for (uint32_t i = 0; i < s->rows; i++) rows += s->c[i] + 1;
    for (uint32_t j = 0; j < s->columns; j++) columns += s->d[j] + 1;
    if (columns > MOST || rows >= columns) return NULL;
    double *A = linearize(k, rows, columns);
    size_t *order = dae_arena_take(k->arena, columns + 1, sizeof *order), n = columns - rows;
    if (!A || !reduce(A, rows, columns, order)) return NULL;
    double *N = dae_arena_take(k->arena, columns * n + 1, sizeof *N);
    for (size_t i = 0; i < columns; i++)
        for (size_t j = 0; j < n; j++)
            N[order[i] * n + j] = i < rows ? -A[i * columns + rows + j] : i - rows == j;
    double *V = dae_arena_take(k->arena, s->columns * n + 1, sizeof *V);
    for (size_t j = 0, at = 0; j < s->columns; at += s->d[j] + 1, j++)
        memcpy(V + j * n, N + at * n, n * sizeof *V);
    scale_rows(V, s->columns, n);
    orthogonalize(V, s->columns, n);
    *freedom = n;
    return V;
}

bool insight_independent(insight *k, const double *V, size_t freedom, const size_t *row,
                         size_t rows)
{
    double *A = dae_arena_take(k->arena, rows * freedom + 1, sizeof *A);
    size_t *order = dae_arena_take(k->arena, freedom + 1, sizeof *order);
    if (rows > freedom) return false;
    for (size_t i = 0; i < rows; i++)
        memcpy(A + i * freedom, V + row[i] * freedom, freedom * sizeof *A);
    return reduce(A, rows, freedom, order);
}
