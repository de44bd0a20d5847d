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
 * from before, is turned (turn.c) so that as many rows as the rank of its block at c_j determine
 * c_j (its part in the span of V_1 .. V_r), and the others are left, without c_j. So no matrix is
 * larger than n plus the number of constraints, and no rank is hidden by larger numbers
 * elsewhere. Read at the end:
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
#include "linear/lapack.h"

#include <math.h>
#include <string.h>

static size_t width(int n, int j) /* of what the rows that determine c_j hold beside it */
{
    return 1 + (size_t)j * (size_t)n;
}

/* Room for a stage: pivot, Q, tau, L, V', lift */
static size_t stage_size(const dae_array *a, int j)
{
    size_t n = (size_t)a->n;
    return n * width(a->n, j) + (size_t)a->ld * n + n + 3 * n * n;
}

static void hand_out(dae_array *a, int order)
{
    size_t n = (size_t)a->n;
    double *next = a->block;
    for (int j = 0; j <= order + 1; j++) {
        dae_turn *t = &a->turn[j];
        a->pivot[j] = next;
        t->n = a->n;
        t->Q = a->pivot[j] + n * width(a->n, j);
        t->tau = t->Q + (size_t)a->ld * n;
        t->L = t->tau + n;
        t->Vt = t->L + n * n;
        t->pivot = a->pivots;
        a->lift[j] = t->Vt + n * n;
        next = a->lift[j] + n * n;
    }
    a->basis = next;
}

dae_status dae_array_open(dae_array *a, int n, int order, double tolerance,
                          const dae_memory *memory)
{
    size_t size = (size_t)n * (size_t)n;
    a->n = n;
    a->order = order;
    a->ld = (order + 1) * n;
    a->tolerance = tolerance;
    a->forced = 0;
    a->constraints = -1;
    for (int j = 0; j <= DAE_MOST_SERIES; j++) a->expected[j] = -1;
    for (int j = 0; j <= order + 1; j++) size += stage_size(a, j);
    a->stack =
        dae_alloc(memory, (size_t)a->ld * ((size_t)(order + 2) * (size_t)n + 1), sizeof(double));
    a->block = dae_alloc(memory, size, sizeof(double));
    a->pivots = dae_alloc(memory, (size_t)n, sizeof(int));
    dae_status status = dae_svd_open(&a->svd, a->ld, n, tolerance, memory);
    if (!a->stack || !a->block || !a->pivots || status != DAE_OK) return DAE_E_NOMEM;
    hand_out(a, order);
    return DAE_OK;
}

void dae_array_close(dae_array *a, const dae_memory *memory)
{
    dae_svd_close(&a->svd, memory);
    dae_free(memory, a->stack);
    dae_free(memory, a->block);
    dae_free(memory, a->pivots);
    a->stack = a->block = NULL;
    a->pivots = NULL;
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

static void append_right_side(dae_array *a, const dae_series *s, int k, int above)
{
    size_t n = (size_t)a->n;
    double factor = dae_array_weight(s, k) * pow(s->rank_time, k);
    for (size_t row = 0; row < n; row++)
        a->stack[(size_t)above + row] = factor * s->rank_row[row] * s->R[(size_t)k * n + row];
}

/* The rows R_k below the first `above` rows. */
static void append(dae_array *a, const dae_series *s, int k, int above)
{
    size_t n = (size_t)a->n, square = n * n;
    double factorial = dae_array_weight(s, k), part = factorial; /* k! / j! */
    append_right_side(a, s, k, above);
    for (int j = 0; j <= k + 1; j++, part = factorial / dae_array_weight(s, j))
        for (int i = 0; i < a->n; i++) {
            double *out = column_of(a, j, i) + above;
            const double *C = s->C + (size_t)(k - j + 1) * square + (size_t)i * n;
            const double *K = j <= k ? s->K + (size_t)(k - j) * square + (size_t)i * n : NULL;
            double unit = part * s->rank_column[i] * pow(s->rank_time, k - j);
            for (size_t row = 0; row < n; row++)
                out[row] = unit * s->rank_row[row] * ((K ? K[row] : 0) + j * C[row]);
        }
}

/* The first rows of the stack's columns go to the pivot of c_j, the others move up. */
static void part(dae_array *a, int j, size_t columns)
{
    const dae_turn *t = &a->turn[j];
    size_t rank = (size_t)t->rank, left = (size_t)t->m - rank, n = (size_t)a->n;
    for (size_t k = 0; k < columns; k++) {
        double *column = a->stack + k * (size_t)a->ld;
        memcpy(a->pivot[j] + k * n, column, rank * sizeof *column);
        memmove(column, column + rank, left * sizeof *column);
    }
}

/* The rows left after c_j, W without their right sides, become orthonormal: W = U diag(s) V', and
 * lift = diag(1 / s) U'. Where every equation holds derivatives, constraints come out smaller by H
 * (beside the rates of what is differentiated) each time they are differentiated, each at its own
 * pace: without this H^4 would have to be told from rounding by one tolerance for all. What may be
 * rounding stays as small as it is. */
static int find_lift(dae_array *a, const dae_series *s, int j, int left)
{
    int info = 0, columns = j * a->n;
    double *W = a->svd.copy, *L = a->svd.Vt, *U = a->svd.U;
    double least = fmin(10 * a->svd.tolerance, 1e-2);
    a->lifted[j] = 0;
    if (left == 0 || j == 0 || left > a->n) return 0;
    for (int k = 0; k < columns; k++)
        memcpy(W + (size_t)k * (size_t)left, column_of(a, 0, k), (size_t)left * sizeof *W);
    dgelqf_(&left, &columns, W, &left, a->svd.s, a->svd.work, &a->svd.lwork, &info);
    for (int k = 0; k < left && info == 0; k++)
        for (int i = 0; i < left; i++)
            L[(size_t)i + (size_t)k * (size_t)left] =
                i >= k && k < columns ? W[(size_t)i + (size_t)k * (size_t)left] : 0;
    if (info == 0)
        dgesdd_("A", &left, &left, L, &left, a->svd.s, U, &left, W, &left, a->svd.work,
                &a->svd.lwork, a->svd.iwork, &info, 1);
    double most = 1, cap = fmax(1, 10 / (s->H * s->rank_time));
    for (int i = 0; i < left && info == 0; i++) {
        double factor = a->svd.s[i] > least && a->svd.s[i] < 1 ? fmin(1 / a->svd.s[i], cap) : 1;
        for (int k = 0; k < left; k++)
            a->lift[j][(size_t)i + (size_t)k * (size_t)left] =
                factor * U[(size_t)k + (size_t)i * (size_t)left];
        most = fmax(most, factor);
    }
    if (info == 0 && most > 1) {
        a->lifted[j] = left;
        a->gain *= most;
    }
    return info;
}

static void lift(dae_array *a, int j, int columns)
{
    const double one = 1, zero = 0;
    int left = a->lifted[j], panel = left > 0 ? a->ld / left * a->n : 1;
    for (int first = 0; first < columns && left > 0; first += panel) {
        int count = columns - first < panel ? columns - first : panel;
        double *rows = a->stack + (size_t)first * (size_t)a->ld, *copy = a->svd.copy;
        for (int k = 0; k < count; k++)
            memcpy(copy + (size_t)k * (size_t)left, rows + (size_t)k * (size_t)a->ld,
                   (size_t)left * sizeof *copy);
        dgemm_("N", "N", &left, &count, &left, &one, a->lift[j], &left, copy, &left, &zero, rows,
               &a->ld, 1, 1);
    }
}

/* What counts as zero where entries are known so exactly. Rows are of length 1: values above 1e-2
 * are none, however little is known. */
static double tolerance_for(const dae_array *a, double noise)
{
    return fmax(a->tolerance, fmin(30 * fmax(noise, a->svd.grain), 1e-2));
}

/* Where x' is determined by a level, the level before knew all constraints: if as many rows are
 * left, they are these again. */
static int expected_rank(const dae_array *a, int j, int m)
{
    if (j == 0 && a->order > 0 && a->rank[1] == a->n && m == a->constraints) return m;
    return a->expected[j];
}

/* c_j out of the first m rows; answers how many are left, or -1. */
static int eliminate(dae_array *a, const dae_series *s, int j, int m)
{
    size_t columns = width(a->n, j);
    a->svd.blur = a->noise[j];
    a->svd.by_gap = s->rough;
    a->svd.grain = s->grain;
    a->svd.tolerance = tolerance_for(a, a->svd.blur);
    a->svd.dropped = -1;
    a->rank[j] = dae_turn_make(&a->turn[j], &a->svd, m, column_of(a, j, 0), a->ld,
                               a->forced ? a->rank[j] : expected_rank(a, j, m), s->rank_column);
    if (a->rank[j] < 0) return -1;
    int left = m - a->rank[j];
    dae_turn_rows(&a->turn[j], &a->svd, (int)columns, a->stack, a->ld);
    part(a, j, columns);
    if (a->svd.dropped >= 0) a->svd.tolerance = tolerance_for(a, a->svd.dropped);
    double gain = a->gain;
    if (find_lift(a, s, j, left) != 0) return -1;
    if (j > 0)
        a->noise[j - 1] =
            fmax(a->svd.dropped >= 0 ? a->svd.dropped : a->noise[j], 1e-15) * a->gain / gain;
    lift(a, j, (int)columns);
    return left;
}

const double *dae_array_constraint(const dae_array *a, int i)
{
    return a->basis + (size_t)i * (size_t)a->n;
}

int dae_array_tangent(dae_array *a, const dae_series *s)
{
    size_t n = (size_t)a->n;
    int first = a->rank[0], count = a->n - first;
    memset(a->stack, 0, n * (size_t)count * sizeof *a->stack);
    for (int k = 0; k < count; k++) {
        const double *T = dae_array_constraint(a, first + k);
        double *out = a->stack + (size_t)k * n, longest = 0;
        for (size_t j = 0; j < n; j++) longest = fmax(longest, fabs(T[j]) / s->rank_column[j]);
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++)
                out[i] += s->rank_row[i] * s->C[i + j * n] * T[j] / (longest * s->rank_time);
    }
    a->svd.blur = s->blur;
    a->svd.by_gap = 0;
    a->svd.tolerance = a->tolerance;
    return dae_svd_rank(&a->svd, a->n, count, a->stack, a->n);
}

/* Rows without unknowns; what rounding says in them was multiplied by the lifts. */
static void read_contradiction(dae_array *a, int left)
{
    a->contradiction = 0;
    for (int i = 0; i < left; i++)
        a->contradiction = fmax(a->contradiction, fabs(a->stack[i]) / a->gain);
}

int dae_array_eliminate(dae_array *a, const dae_series *s, int order)
{
    int left = 0;
    size_t n = (size_t)a->n;
    a->order = order;
    a->gain = 1;
    a->noise[order + 1] = s->blur;
    for (int j = order + 1; j >= 1; j--) {
        append(a, s, j - 1, left);
        left = eliminate(a, s, j, left + a->n);
        if (left < 0) return -1;
    }
    a->left = left;
    left = eliminate(a, s, 0, left);
    if (left < 0) return -1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) a->basis[i * n + k] = a->turn[0].Vt[i + k * n];
    read_contradiction(a, left);
    return 0;
}

void dae_array_right_sides(dae_array *a, const dae_series *s)
{
    int left = 0;
    for (int j = a->order + 1; j >= 0; j--) {
        if (j > 0) append_right_side(a, s, j - 1, left);
        dae_turn_rows(&a->turn[j], &a->svd, 1, a->stack, a->ld);
        part(a, j, 1);
        left = a->turn[j].m - a->turn[j].rank;
        lift(a, j, 1);
    }
    read_contradiction(a, left);
}

/* V' y_j = -(right side + what is known of the others), y_j in the span of the V_i */
void dae_array_step(const dae_array *a, const dae_series *s, double *change)
{
    const double one = 1, minus = -1, zero = 0;
    const int step = 1;
    size_t n = (size_t)a->n;
    double *own = a->stack; /* the change in the units of the rows */
    memset(change, 0, (size_t)(a->order + 2) * n * sizeof *change);
    for (int j = 0; j <= a->order + 1; j++) {
        int rank = a->rank[j], before = j * a->n;
        double *sum = a->svd.copy;
        memcpy(sum, a->pivot[j], (size_t)rank * sizeof *sum);
        if (rank > 0 && before > 0)
            dgemv_("N", &rank, &before, &one, a->pivot[j] + n, &a->n, own, &step, &one, sum, &step,
                   1);
        if (rank > 0)
            dgemv_("T", &rank, &a->n, &minus, a->turn[j].Vt, &a->n, sum, &step, &zero,
                   change + (size_t)j * n, &step, 1);
        for (size_t k = 0; k < n; k++)
            own[(size_t)j * n + k] = change[(size_t)j * n + k] / s->rank_column[k];
    }
    for (int j = 1; j <= a->order + 1; j++)
        for (size_t k = 0; k < n; k++)
            change[(size_t)j * n + k] /= dae_array_weight(s, j) * pow(s->rank_time, j);
}
