/* base.c: the Jacobian of a derivative array at a point, decomposed (array.h).
 *
 * Ranks are decided by singular values, at points that satisfy the array: beside them the rank of
 * Gy is mostly larger, by singular values as small as the residuals, since a factor that depends on
 * the unknowns is itself differentiated there. So a base is taken where all holds, and serves for
 * points nearby.
 */
#include "model/array/array.h"

#include "linear/lapack.h"

#include <math.h>
#include <string.h>

static const double ZERO = 1e-10; /* singular values below this part of the largest count as 0 */

static double *take(dae_arena *arena, int count)
{
    return dae_arena_take(arena, (size_t)count + 1, sizeof(double));
}

bool array_base_open(array_base *b, dae_arena *arena, int n, int rows, int width)
{
    int most = rows > width ? rows : width;
    if (rows > ARRAY_ROWS + ARRAY_ROWS / 2) return false;
    if (most <= b->most) return true;
    *b = (array_base){ .n = n, .most = most, .size = b->size, .weight = b->weight };
    b->J = take(arena, most * (n + most));
    b->copy = take(arena, most * (n + most));
    b->U = take(arena, most * most);
    b->V = take(arena, most * most);
    b->S = take(arena, most);
    b->P = take(arena, most * most);
    b->W = take(arena, n * n);
    b->Q = take(arena, most);
    b->scale = take(arena, most);
    b->side = take(arena, 4 * (most + n));
    b->lwork = 12 * (most + n) + 64;
    b->work = take(arena, b->lwork);
    b->pivot = dae_arena_take(arena, (size_t)(2 * (most + n)) + 1, sizeof *b->pivot);
    if (!b->size) {
        b->size = take(arena, n);
        b->weight = take(arena, n);
        for (int j = 0; j < n; j++) b->size[j] = b->weight[j] = 1;
    }
    return true;
}

/* Rows are measured with all columns, those of unknowns that are held included: what rounding left
 * of a 0 beside them is none. */
void array_scale(array_base *b, int height, int width)
{
    size_t rows = (size_t)height;
    b->rows = height;
    b->width = width;
    for (int k = 0; k < b->n + b->width; k++)
        for (size_t i = 0; i < rows; i++) b->J[i + (size_t)k * rows] *= b->size[k % b->n];
    for (size_t i = 0; i < rows; i++) {
        double most = 0;
        for (int k = 0; k < b->n + b->width; k++)
            most = fmax(most, fabs(b->J[i + (size_t)k * rows]));
        b->scale[i] = most > 0 ? 1 / most : 1;
        for (int k = 0; k < b->n + b->width; k++)
            b->J[i + (size_t)k * rows] *= b->scale[i] * (k < b->n ? b->weight[k] : 1);
    }
}

static bool decompose(array_base *b, double *A, int rows, int columns, double *U, double *s,
                      double *VT)
{
    int info = 0, lwork = b->lwork;
    if (rows == 0 || columns == 0) {
        for (int j = 0; j < columns; j++)
            for (int i = 0; i < columns; i++) VT[i + j * columns] = i == j;
        for (int j = 0; j < rows; j++)
            for (int i = 0; i < rows; i++) U[i + j * rows] = i == j;
        return true;
    }
    dgesvd_("A", "A", &rows, &columns, A, &rows, s, U, &rows, VT, &columns, b->work, &lwork,
            &info);
    return info == 0;
}

/* How many singular values count; the closest decision is noted. */
static int count_rank(array_base *b, const double *s, int least, double largest)
{
    int rank = 0;
    if (!(largest > 0)) return 0;
    while (rank < least && s[rank] > ZERO * largest) rank++;
    if (rank > 0) b->kept = fmin(b->kept, s[rank - 1] / largest);
    if (rank < least) b->dropped = fmax(b->dropped, s[rank] / largest);
    return rank;
}

/* The part of c_1 that the kernel of Gy moves. */
static double looseness(const array_base *b)
{
    double most = 0;
    for (int v = b->rank; v < b->width; v++)
        for (int j = 0; j < b->n; j++)
            most = fmax(most, fabs(b->V[(size_t)v + (size_t)j * (size_t)b->width]));
    return most;
}

bool array_decompose(array_base *b, int rows, int width)
{
    size_t n = (size_t)b->n, tall = (size_t)rows;
    b->kept = INFINITY;
    b->dropped = 0;
    array_scale(b, rows, width);
    memcpy(b->copy, b->J + n * tall, (size_t)width * tall * sizeof *b->copy);
    if (!decompose(b, b->copy, rows, width, b->U, b->S, b->V)) return false;
    int least = rows < width ? rows : width;
    b->rank = count_rank(b, b->S, least, least ? b->S[0] : 0);
    int below = rows - b->rank;
    for (int c = 0; c < b->n; c++) /* C = U2^T Gx */
        for (int k = 0; k < below; k++) {
            const double *u = b->U + (size_t)(b->rank + k) * tall, *g = b->J + (size_t)c * tall;
            double sum = 0;
            for (size_t i = 0; i < tall; i++) sum += u[i] * g[i];
            b->copy[k + c * below] = sum;
        }
    if (!decompose(b, b->copy, below, b->n, b->P, b->Q, b->W)) return false;
    least = below < b->n ? below : b->n;
    b->constraints = count_rank(b, b->Q, least, least ? fmax(b->Q[0], 1e-3) : 0);
    b->loose = looseness(b);
    return true;
}

/* y = V S^-1 U1^T r for scaled r. */
static void solve_y(const array_base *b, const double *r, double *y)
{
    memset(y, 0, (size_t)b->width * sizeof *y);
    for (int k = 0; k < b->rank; k++) {
        double sum = 0;
        for (int i = 0; i < b->rows; i++) sum += b->U[i + k * b->rows] * r[i];
        sum /= b->S[k];
        for (int j = 0; j < b->width; j++) y[j] += b->V[k + j * b->width] * sum;
    }
}

/* x = W Q^-1 P^T U2^T r for scaled r. */
static void solve_x(const array_base *b, const double *r, double *x)
{
    int below = b->rows - b->rank;
    double *low = b->side + 2 * (b->most + b->n);
    for (int k = 0; k < below; k++) {
        low[k] = 0;
        for (int i = 0; i < b->rows; i++) low[k] += b->U[i + (b->rank + k) * b->rows] * r[i];
    }
    memset(x, 0, (size_t)b->n * sizeof *x);
    for (int k = 0; k < b->constraints; k++) {
        double sum = 0;
        for (int i = 0; i < below; i++) sum += b->P[i + k * below] * low[i];
        sum /= b->Q[k];
        for (int j = 0; j < b->n; j++) x[j] += b->W[k + j * b->n] * sum;
    }
}

void array_correct(array_base *b, const double *G, double *change)
{
    double *r = b->side;
    for (int i = 0; i < b->rows; i++) r[i] = -G[i] * b->scale[i];
    solve_x(b, r, change);
    for (int j = 0; j < b->n; j++)
        for (int i = 0; i < b->rows; i++) r[i] -= b->J[i + j * b->rows] * change[j];
    solve_y(b, r, change + b->n);
    for (int k = 0; k < b->n + b->width; k++)
        change[k] *= b->size[k % b->n] * (k < b->n ? b->weight[k] : 1);
}

void array_slope(const array_base *b, double *J)
{
    int n = b->n;
    double *r = b->side, *y = b->side + b->most + n;
    for (int j = 0; j < n; j++) { /* along the j-th unknown, on the constraints */
        memset(r, 0, (size_t)b->rows * sizeof *r);
        for (int l = 0; l < n; l++) {
            double along = l == j;
            for (int k = 0; k < b->constraints; k++)
                along -= b->W[k + l * n] * b->W[k + j * n];
            for (int i = 0; i < b->rows; i++) r[i] -= b->J[i + l * b->rows] * along;
        }
        solve_y(b, r, y);
        for (int i = 0; i < n; i++) J[i + j * n] = y[i] * b->size[i] / b->size[j];
    }
}
