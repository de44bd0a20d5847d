/* array.c: the derivative array, and what it says of x, x', x'', ...
 *
 * Along the curve of series.c, F = sum R_k tau^k, where R_k depends on c_0 .. c_{k+1} only. The
 * equations R_0 = 0, .., R_k = 0 are the derivative array (Campbell): F = 0 and its first k
 * derivatives, with x, x', x'' .. in place of Taylor coefficients. A change of c_j by y
 * moves the curve by y tau^j, and so R by K y tau^j + C y j tau^(j-1):
 *
 *     d R_k / d c_j = K_{k-j} + j C_{k-j+1}       (K_i = 0, C_i = 0 for i < 0)
 *
 * (With constant Jacobians rows are multiplied by k!, columns divided by j!, as if they were
 * derivatives and not coefficients: the leading blocks are then all C_0, and a chain of
 * differentiations is as well conditioned as a single one. K_1, K_2 .. are known less
 * and less exactly; that is better not multiplied by factorials.)
 *
 *            c_0    c_1             c_2              c_3
 *     R_0    K_0    C_0
 *     R_1    K_1    K_0 + C_1      2 C_0
 *     R_2    K_2    K_1 + C_2      K_0 + 2 C_1      3 C_0
 *
 * The unknowns are eliminated from the right. What holds c_j, the rows R_{j-1} and the rows left
 * from before, is multiplied by U' of the singular value decomposition U diag(s) V' of its
 * block at c_j: as many rows as its rank determine c_j (its part in the span of V_1 .. V_r), the
 * others are left, without c_j. So no matrix is larger than n plus the number of constraints, and
 * no rank is hidden by larger numbers elsewhere. Read at the end:
 *
 *   rank at c_1 equal to n    x' is a function of x and t: the differential index is at most k
 *   rows left for c_0         constraints on x; a, their rank, counts those known after
 *                             k differentiations, and the rest, v, equations that say nothing new
 *   rank of C_0 on the kernel of the constraints, d: what is determined by initial values. If no
 *                             later level adds a constraint, and d = n - a, k is the strangeness
 *                             index (Kunkel, Mehrmann); n - a - d unknowns are determined by
 *                             nothing
 */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

static size_t pivot_width(int n, int j)
{
    return 1 + ((size_t)j + 1) * (size_t)n;
}

dae_status dae_array_open(dae_array *a, int n, int order, double tolerance,
                          const dae_memory *memory)
{
    size_t size = 0;
    a->n = n;
    a->order = order;
    a->ld = (order + 1) * n;
    for (int j = 0; j <= order + 1; j++)
        size += (size_t)n * pivot_width(n, j);
    a->stack = dae_alloc(memory, (size_t)a->ld * ((size_t)(order + 2) * (size_t)n + 1),
                         sizeof(double));
    a->pivots = dae_alloc(memory, size, sizeof(double));
    dae_status status = dae_svd_open(&a->svd, a->ld, n, tolerance, memory);
    if (!a->stack || !a->pivots || status != DAE_OK)
        return DAE_E_NOMEM;
    double *next = a->pivots;
    for (int j = 0; j <= order + 1; j++, next += (size_t)n * pivot_width(n, j - 1))
        a->pivot[j] = next;
    return DAE_OK;
}

void dae_array_close(dae_array *a, const dae_memory *memory)
{
    dae_svd_close(&a->svd, memory);
    dae_free(memory, a->stack);
    dae_free(memory, a->pivots);
    a->stack = a->pivots = NULL;
}

/* Column i of c_j in the stack; the right side is column 0. */
static double *column_of(dae_array *a, int j, int i)
{
    return a->stack + (1 + (size_t)j * (size_t)a->n + (size_t)i) * (size_t)a->ld;
}

double dae_array_weight(const dae_series *s, int k)
{
    return s->varying > 0 ? 1 : tgamma(k + 1);
}

/* The rows R_k below the first `above` rows. */
static void append(dae_array *a, const dae_series *s, int k, int above)
{
    size_t n = (size_t)a->n, square = n * n;
    double factorial = dae_array_weight(s, k), part = factorial; /* k! / j! */
    for (size_t row = 0; row < n; row++)
        a->stack[(size_t)above + row] = factorial * s->R[(size_t)k * n + row];
    for (int j = 0; j <= k + 1; j++, part = factorial / dae_array_weight(s, j))
        for (int i = 0; i < a->n; i++) {
            double *out = column_of(a, j, i) + above;
            const double *C = s->C + (size_t)(k - j + 1) * square + (size_t)i * n;
            const double *K = j <= k ? s->K + (size_t)(k - j) * square + (size_t)i * n : NULL;
            for (size_t row = 0; row < n; row++)
                out[row] = part * ((K ? K[row] : 0) + j * C[row]);
        }
}

/* The first `rank` rows, divided by their singular values, and V'. */
static void store_pivot(dae_array *a, int j, int rank)
{
    size_t n = (size_t)a->n, width = pivot_width(a->n, j), before = width - n;
    a->rank[j] = rank;
    for (size_t i = 0; i < n; i++) {
        double *row = a->pivot[j] + i * width;
        for (size_t k = 0; k < before && i < (size_t)rank; k++)
            row[k] = a->stack[i + k * (size_t)a->ld] / a->svd.s[i];
        for (size_t k = 0; k < n; k++)
            row[before + k] = a->svd.Vt[i + k * n];
    }
}

/* c_j out of the first m rows; answers how many are left, or -1. */
static int eliminate(dae_array *a, int j, int m)
{
    int rank = dae_svd_rank(&a->svd, m, a->n, column_of(a, j, 0), a->ld);
    if (rank < 0)
        return -1;
    int columns = 1 + j * a->n;
    dae_svd_turn_rows(&a->svd, m, columns, a->stack, a->ld);
    store_pivot(a, j, rank);
    for (int k = 0; k < columns; k++) {
        double *column = a->stack + (size_t)k * (size_t)a->ld;
        memmove(column, column + rank, (size_t)(m - rank) * sizeof *column);
    }
    return m - rank;
}

const double *dae_array_constraint(const dae_array *a, int i)
{
    return a->pivot[0] + (size_t)i * pivot_width(a->n, 0) + 1;
}

int dae_array_tangent(dae_array *a, const dae_series *s)
{
    size_t n = (size_t)a->n;
    int first = a->rank[0], count = a->n - first;
    memset(a->stack, 0, n * (size_t)count * sizeof *a->stack);
    for (int k = 0; k < count; k++) {
        const double *T = dae_array_constraint(a, first + k);
        double *out = a->stack + (size_t)k * n;
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++)
                out[i] += s->C[i + j * n] * T[j];
    }
    return dae_svd_rank(&a->svd, a->n, count, a->stack, a->n);
}

int dae_array_eliminate(dae_array *a, const dae_series *s, int order)
{
    int left = 0;
    a->order = order;
    for (int j = order + 1; j >= 1; j--) {
        append(a, s, j - 1, left);
        left = eliminate(a, j, left + a->n);
        if (left < 0)
            return -1;
    }
    a->left = left;
    left = eliminate(a, 0, left);
    a->contradiction = 0;
    for (int i = 0; i < left; i++)
        a->contradiction = fmax(a->contradiction, fabs(a->stack[i]));
    return left < 0 ? -1 : 0;
}

/* V_i' y_j = -(right side + what is known of the others), y_j in the span of the V_i */
void dae_array_step(const dae_array *a, const dae_series *s, double *change)
{
    size_t n = (size_t)a->n;
    memset(change, 0, (size_t)(a->order + 2) * n * sizeof *change);
    for (int j = 0; j <= a->order + 1; j++) {
        size_t width = pivot_width(a->n, j), before = width - n;
        for (int i = 0; i < a->rank[j]; i++) {
            const double *row = a->pivot[j] + (size_t)i * width, *V = row + before;
            double sum = row[0];
            for (size_t k = 0; k < (size_t)j * n; k++)
                sum += row[1 + k] * change[k];
            for (size_t k = 0; k < n; k++)
                change[(size_t)j * n + k] -= sum * V[k];
        }
    }
    for (int j = 1; j <= a->order + 1; j++)
        for (size_t k = 0; k < n; k++)
            change[(size_t)j * n + k] /= dae_array_weight(s, j);
}
