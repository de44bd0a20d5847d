/* base.c: the Jacobian of a derivative array at a point, decomposed (array.h).
 *
 *            c_0    c_1             c_2              c_3
 *     G_0    K_0    C_0
 *     G_1    K_1    K_0 + C_1      2 C_0                     K = F_x, C = F_x' / tau,
 *     G_2    K_2    K_1 + C_2      K_0 + 2 C_1      3 C_0    as series
 *
 * Unknowns are eliminated from the right, so that no rank is that of a matrix with more than n
 * columns. All of it at once has singular values that fall by orders of magnitude with every
 * differentiation, and from index 4 on rounding could not be told from them.
 *
 * Ranks are decided by singular values, at points that satisfy the array: beside them the rank of
 * Gy is mostly larger, by singular values as small as the residuals, since a factor that depends on
 * the unknowns is itself differentiated there. So a base is taken where all holds, and serves for
 * points nearby.
 */
#include "model/array/array.h"

#include "linear/lapack.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double SMALL = 1e-3; /* ... which is taken for this at least, beside rows of size 1 */

static double *take(dae_arena *arena, int count)
{
    return dae_arena_take(arena, (size_t)count + 1, sizeof(double));
}

static void open_stages(array_base *b, dae_arena *arena, int rows, int width)
{
    int n = b->n, last = width / n;
    for (int j = last; j >= 1; j--) {
        array_stage *s = &b->stage[j];
        s->room = j > 1 ? (last + 1 - j) * n : rows;
        s->U = take(arena, s->room * s->room);
        s->S = take(arena, n);
        s->V = take(arena, n * n);
        s->top = take(arena, n * j * n);
        s->lift = take(arena, s->room);
    }
}

/* Into a base of its own: where memory ends in the middle the old one is whole. */
bool array_base_open(array_base *old, dae_arena *arena, int n, int rows, int width)
{
    int most = rows > width ? rows : width;
    if (rows > ARRAY_ROWS + ARRAY_ROWS / 2) return false;
    if (most <= old->most) return true;
    array_base made = { .n = n,
                        .most = most,
                        .size = old->size,
                        .weight = old->weight,
                        .ease = old->ease,
                        .zero = old->zero > 0 ? old->zero : ARRAY_ZERO };
    array_base *b = &made;
    b->J = take(arena, most * (n + most));
    b->copy = take(arena, most * (n + most));
    b->panel = take(arena, most * n);
    b->grade = take(arena, most * (n + 2 * most));
    open_stages(b, arena, most, width);
    b->P = take(arena, most * most);
    b->W = take(arena, n * n);
    b->Q = take(arena, most);
    b->scale = take(arena, most);
    b->blur = take(arena, most);
    b->side = take(arena, 4 * (most + n));
    b->lwork = 12 * (most + n) + 64;
    b->work = take(arena, b->lwork);
    b->pivot = dae_arena_take(arena, (size_t)(2 * (most + n)) + 1, sizeof *b->pivot);
    if (!b->size) {
        b->size = take(arena, n);
        b->weight = take(arena, n);
        for (int j = 0; j < n; j++) b->size[j] = b->weight[j] = 1;
    }
    *old = made;
    return true;
}

/* Rows are measured with all columns, those of unknowns that are held included: what rounding left
 * of a 0 beside them is none. */
static void scale_all(array_base *b, int height, int width)
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
        for (int k = 0; k < b->n + b->width; k++) b->J[i + (size_t)k * rows] *= b->scale[i];
    }
}

static void weigh(array_base *b)
{
    for (int k = 0; k < b->n; k++)
        for (int i = 0; i < b->rows; i++) b->J[i + k * b->rows] *= b->weight[k];
}

void array_scale(array_base *b, int rows, int width)
{
    scale_all(b, rows, width);
    weigh(b);
}

/* ---------------------------------------------------------------- stages ---------------- */

static void put_identity(double *A, int n)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) A[(size_t)i + (size_t)j * (size_t)n] = i == j;
}

static bool decompose(array_base *b, double *A, int rows, int columns, double *U, double *s,
                      double *VT)
{
    int info = 0, lwork = b->lwork;
    if (rows == 0 || columns == 0) {
        put_identity(VT, columns);
        put_identity(U, rows);
        return true;
    }
    dgesvd_("A", "A", &rows, &columns, A, &rows, s, U, &rows, VT, &columns, b->work, &lwork, &info);
    return info == 0;
}

/* Is a singular value more than nothing, where rows are known to `blur`? The closest decision is
 * noted, in units in which rounding is that of rows as they are given. */
static bool counts(array_base *b, double value, double largest, double blur)
{
    double seen = value / largest * (DBL_EPSILON / fmax(blur, DBL_EPSILON));
    if (seen > b->zero)
        b->kept = fmin(b->kept, seen);
    else
        b->dropped = fmax(b->dropped, seen);
    return seen > b->zero;
}

static int count_rank(array_base *b, const double *s, int least, double blur)
{
    int rank = 0;
    double largest = least > 0 ? fmax(s[0], SMALL) : SMALL;
    while (rank < least && counts(b, s[rank], largest, blur)) rank++;
    return rank;
}

/* The rows G_(j-1), and with c_1 all that stand below the array, under the `left` rows of the
 * stack, whose columns are `most` high. Answers how many there are then. */
static int append(array_base *b, int j, int left)
{
    int count = b->n, first = (j - 1) * b->n, below = j == 1 ? b->rows - b->width : 0;
    for (int k = 0; k < (j + 1) * b->n; k++) {
        const double *from = b->J + (size_t)k * (size_t)b->rows;
        double *to = b->copy + (size_t)k * (size_t)b->most + left;
        memcpy(to, from + first, (size_t)count * sizeof *to);
        memcpy(to + count, from + b->width, (size_t)below * sizeof *to);
    }
    for (int i = left; i < left + count + below; i++) b->blur[i] = DBL_EPSILON;
    return left + count + below;
}

/* How exactly the rows of the stack are known. */
static double most_blur(const array_base *b, int rows)
{
    double most = 0;
    for (int i = 0; i < rows; i++) most = fmax(most, b->blur[i]);
    return most;
}

/* How exactly combinations of them are known: the columns of U behind `rank`. */
static void turn_blur(array_base *b, const array_stage *s)
{
    for (int k = s->rank; k < s->rows; k++) {
        const double *u = s->U + (size_t)k * (size_t)s->rows;
        double sum = 0;
        for (int i = 0; i < s->rows; i++) sum = hypot(sum, u[i] * b->blur[i]);
        b->side[k - s->rank] = sum;
    }
    memcpy(b->blur, b->side, (size_t)(s->rows - s->rank) * sizeof *b->blur);
}

/* What is left of the stack, turned by U^T: columns of c_0 .. c_(j-1) into the stage and the stack.
 */
static void part(array_base *b, const array_stage *s, int j)
{
    int n = b->n, left = s->rows - s->rank;
    const double one = 1, zero = 0;
    for (int first = 0; first < j * n; first += n) {
        double *panel = b->copy + (size_t)first * (size_t)b->most;
        dgemm_("T", "N", &s->rows, &n, &s->rows, &one, s->U, &s->rows, panel, &b->most, &zero,
               b->panel, &s->rows, 1, 1);
        for (int k = 0; k < n; k++) {
            const double *from = b->panel + (size_t)k * (size_t)s->rows;
            memcpy(s->top + (size_t)(first + k) * (size_t)n, from, (size_t)s->rank * sizeof *from);
            memcpy(panel + (size_t)k * (size_t)b->most, from + s->rank,
                   (size_t)left * sizeof *from);
        }
    }
}

/* The rows left, L = A diag(sigma) B^T, become diag(1 / sigma) A^T L; those that rounding left of
 * nothing stay as small as they are. U is turned with them. */
static bool grade(array_base *b, array_stage *s, int j)
{
    int left = s->rows - s->rank, columns = j * b->n, info = 0, lwork = b->lwork, one_row = 1;
    size_t square = (size_t)left * (size_t)left;
    double *A = b->grade, *sigma = b->side, *L = b->grade + square, *U = s->U;
    const double one = 1, zero = 0;
    if (left == 0) return true;
    U += (size_t)s->rank * (size_t)s->rows;
    for (int k = 0; k < columns; k++)
        memcpy(L + (size_t)k * (size_t)left, b->copy + (size_t)k * (size_t)b->most,
               (size_t)left * sizeof *L);
    dgesvd_("A", "N", &left, &columns, L, &left, sigma, A, &left, NULL, &one_row, b->work, &lwork,
            &info);
    if (info) return false;
    for (int i = columns; i < left; i++) sigma[i] = 0;
    dgemm_("N", "N", &s->rows, &left, &left, &one, U, &s->rows, A, &left, &zero, L, &s->rows, 1, 1);
    memcpy(U, L, (size_t)s->rows * (size_t)left * sizeof *U);
    for (int k = 0; k < columns; k++) {
        double *column = b->copy + (size_t)k * (size_t)b->most;
        memcpy(L, column, (size_t)left * sizeof *L);
        dgemm_("T", "N", &left, &one_row, &left, &one, A, &left, L, &left, &zero, column, &left, 1,
               1);
    }
    memcpy(s->lift + s->rank, sigma, (size_t)left * sizeof *sigma);
    return true;
}

static void lift(array_base *b, array_stage *s, int j)
{
    int left = s->rows - s->rank;
    turn_blur(b, s);
    for (int i = 0; i < left; i++) {
        double *by = &s->lift[s->rank + i];
        *by = counts(b, *by, 1, b->blur[i]) ? 1 / *by : 1;
        b->blur[i] *= *by;
        for (int k = 0; k < j * b->n; k++) b->copy[(size_t)i + (size_t)k * (size_t)b->most] *= *by;
    }
}

/* c_j out of the first m rows of the stack; how many are left, -1: LAPACK gave up. */
static int eliminate(array_base *b, int j, int m)
{
    array_stage *s = &b->stage[j];
    int n = b->n, least = m < n ? m : n;
    s->rows = m;
    for (int k = 0; k < n; k++)
        memcpy(b->panel + (size_t)k * (size_t)m, b->copy + (size_t)(j * n + k) * (size_t)b->most,
               (size_t)m * sizeof *b->panel);
    if (!decompose(b, b->panel, m, n, s->U, s->S, s->V)) return -1;
    s->rank = count_rank(b, s->S, least, most_blur(b, m));
    part(b, s, j);
    if (!grade(b, s, j)) return -1;
    lift(b, s, j);
    return m - s->rank;
}

/* How readily x_k moves. */
static double readiness(const array_base *b, int k)
{
    return b->weight[k] * (b->eased ? b->ease[k] : 1);
}

/* C = P diag(Q, 0) W^T of what is left in the stack, its columns by how readily unknowns move. */
static bool decompose_constraints(array_base *b)
{
    int left = b->left;
    for (int k = 0; k < b->n; k++)
        for (int i = 0; i < left; i++)
            b->panel[i + k * left] =
                b->copy[(size_t)i + (size_t)k * (size_t)b->most] * readiness(b, k);
    return decompose(b, b->panel, left, b->n, b->P, b->Q, b->W);
}

bool array_decompose(array_base *b, int rows, int width)
{
    int n = b->n, left = 0;
    b->kept = INFINITY;
    b->dropped = 0;
    b->rank = 0;
    scale_all(b, rows, width);
    for (int j = width / n; j >= 1; j--) {
        left = eliminate(b, j, append(b, j, left));
        if (left < 0) return false;
        b->rank += b->stage[j].rank;
    }
    b->full = b->stage[1].rank == n;
    b->left = left;
    b->eased = false;
    weigh(b);
    if (!decompose_constraints(b)) return false;
    b->constraints = count_rank(b, b->Q, left < n ? left : n, most_blur(b, left));
    b->eased = b->ease != NULL;
    return !b->eased || decompose_constraints(b);
}

double array_gap(const array_base *b)
{
    return b->kept / fmax(b->dropped, b->zero / 100);
}

/* ---------------------------------------------------------------- solving --------------- */

/* y = U^T r, lifted behind `rank`. */
static void turn(const array_stage *s, const double *r, double *y)
{
    for (int k = 0; k < s->rows; k++) {
        const double *u = s->U + (size_t)k * (size_t)s->rows;
        double sum = 0;
        for (int i = 0; i < s->rows; i++) sum += u[i] * r[i];
        y[k] = k < s->rank ? sum : s->lift[k] * sum;
    }
}

/* c_j = V S^-1 (right - top (c_0 .. c_(j-1))), all scaled; right is used up. */
static void solve_stage(const array_base *b, int j, double *right, double *c)
{
    const array_stage *s = &b->stage[j];
    int n = b->n;
    for (int k = 0; k < j * n; k++)
        for (int i = 0; i < s->rank && c[k] != 0; i++)
            right[i] -= s->top[(size_t)i + (size_t)k * (size_t)n] * c[k];
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < s->rank; k++) sum += s->V[k + i * n] * (right[k] / s->S[k]);
        c[j * n + i] = sum;
    }
}

/* x = W Q^-1 P^T r */
static void solve_constraints(const array_base *b, const double *r, double *x)
{
    int n = b->n;
    memset(x, 0, (size_t)n * sizeof *x);
    for (int k = 0; k < b->constraints; k++) {
        double sum = 0;
        for (int i = 0; i < b->left; i++) sum += b->P[i + k * b->left] * r[i];
        sum /= b->Q[k];
        for (int j = 0; j < n; j++) x[j] += b->W[k + j * n] * sum;
    }
}

void array_correct(array_base *b, const double *G, double *change)
{
    int n = b->n, left = 0, last = b->width / n;
    double *right = b->panel; /* of stages, n each */
    double *stack = b->side, *turned = b->side + b->most + n;
    for (int j = last; j >= 1; j--) {
        const array_stage *s = &b->stage[j];
        int first = (j - 1) * n, below = j == 1 ? b->rows - b->width : 0;
        for (int i = 0; i < n; i++) stack[left + i] = -G[first + i] * b->scale[first + i];
        for (int i = 0; i < below; i++)
            stack[left + n + i] = -G[b->width + i] * b->scale[b->width + i];
        turn(s, stack, turned);
        memcpy(right + (size_t)(j - 1) * (size_t)n, turned, (size_t)s->rank * sizeof *right);
        left = s->rows - s->rank;
        memcpy(stack, turned + s->rank, (size_t)left * sizeof *stack);
    }
    solve_constraints(b, stack, change);
    for (int k = 0; k < n; k++) change[k] *= readiness(b, k);
    for (int j = 1; j <= last; j++) solve_stage(b, j, right + (size_t)(j - 1) * (size_t)n, change);
    for (int k = 0; k < n + b->width; k++) change[k] *= b->size[k % n];
}

void array_slope(const array_base *b, double *J)
{
    int n = b->n;
    double *c = b->side, *right = b->side + 2 * n;
    for (int j = 0; j < n; j++) { /* along the j-th unknown, on the constraints */
        for (int l = 0; l < n; l++) {
            c[l] = l == j;
            for (int k = 0; k < b->constraints; k++)
                c[l] -= b->W[k + l * n] * b->W[k + j * n] * (readiness(b, l) / readiness(b, j));
        }
        memset(right, 0, (size_t)n * sizeof *right);
        solve_stage(b, 1, right, c);
        for (int i = 0; i < n; i++) J[i + j * n] = c[n + i] * b->size[i] / b->size[j];
    }
}
