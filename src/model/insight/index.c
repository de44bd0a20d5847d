/* index.c: three indices of the equations as written, by numbers at the consistent start.
 *
 * Differentiation index: the smallest k for which the derivative array F = 0, F' = 0, ..., F^(k)
 * = 0 determines x' (Campbell: the Jacobian by (x', ..., x^(k+1)) is 1-full in x', that is, its
 * rank exceeds the rank without the columns of x' by n). The derivatives are symbolic; values
 * x^(l) that satisfy the array are found by Gauss and Newton's method: of the consistent start,
 * or, where that was not found, with x from the start values on. (The index may depend on the
 * branch of a solution: then the structure is wrong on some, and there is no start to be had from
 * it.)
 *
 * Tractability index (Maerz): G_0 = F_x', B_0 = F_x, G_{i+1} = G_i + B_i Q_i, B_{i+1} = B_i (I -
 * Q_i) with admissible projectors: Q_i onto ker G_i, Q_i Q_j = 0 for j < i; the index is the first
 * i with regular G_i. The matrices are frozen at the start. Of constant coefficients it is the
 * Kronecker index of the pencil, which Luenberger's shuffle algorithm counts another way; of
 * others it is the index of the linearization, which need not be that of the equations. So the
 * number is given only where the ways agree.
 *
 * Perturbation index: of equations with constant coefficients it is the Kronecker index. Else it
 * is at least the differentiation index, and at most max c_i + 1 if Pryce's system Jacobian
 * dF_i / dx_j^(d_j - c_i) is regular: then defects enter with c_i derivatives, no more.
 */
#include "linear/lapack.h"
#include "model/insight/insight.h"

#include "expression/walk.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 600, LEVELS = 12, NEWTON = 30, NODES = 400000 };
static const double ZERO = 1e-10; /* singular values below this part of the largest count as 0 */

typedef struct indexer {
    insight *k;
    uint32_t n;
    ex_id *residual;             /* F                                                         */
    int levels;                  /* derivatives there are: F^(0) .. F^(levels - 1)            */
    ex_id *array, *leaf;         /* all of them; x, x^(1), x^(2), ...                          */
    double *x;                   /* values of the leaves                                      */
    double speed;                /* x^(l) is measured in units of its l-th power              */
    bool violated;               /* no derivatives were found that satisfy the array          */
    double kept, dropped;        /* around the closest decision on a rank                     */
} indexer;

/* ---------------------------------------------------------------- ranks ----------------- */

static void *take(indexer *d, size_t count)
{
    return dae_arena_take(d->k->arena, count + 1, sizeof(double));
}

/* The rank of A (rows x columns, by rows); V: room for columns^2 numbers, or NULL: its rows from
 * the rank on are an orthonormal basis of the kernel. Without V the rows are scaled; with it A was
 * computed, and what rounding left of a row of zeros must stay small. -1: no answer. */
static int rank_of(indexer *d, const double *A, int rows, int columns, double *V)
{
    int least = rows < columns ? rows : columns, info = 0, one = 1, lwork, rank = 0;
    double *a = take(d, (size_t)rows * (size_t)columns), *s = take(d, (size_t)least), ask;
    if (rows == 0 || columns == 0) return 0;
    for (int i = 0; i < rows; i++) {
        double most = V ? 1 : 0;
        for (int j = 0; j < columns && !V; j++) most = fmax(most, fabs(A[i * columns + j]));
        for (int j = 0; j < columns; j++)
            a[i + j * rows] = most > 0 ? A[i * columns + j] / most : 0;
    }
    for (int pass = 0; pass < 2 && info == 0; pass++) {
        double *work = pass ? take(d, (size_t)lwork) : &ask;
        int size = pass ? lwork : -1, ldv = V ? columns : 1;
        double unused;
        dgesvd_("N", V ? "A" : "N", &rows, &columns, a, &rows, s, &unused, &one, V ? V : &unused,
                &ldv, work, &size, &info);
        lwork = (int)ask;
    }
    if (info) return -1;
    for (int i = 0; i < least; i++) rank += s[i] > ZERO * s[0];
    if (rank > 0) d->kept = fmin(d->kept, s[rank - 1] / s[0]);
    if (rank < least && s[0] > 0) d->dropped = fmax(d->dropped, s[rank] / s[0]);
    return rank;
}

/* ---------------------------------------------------------------- tractability ---------- */

typedef enum scaling { BY_LARGEST, BY_MEAN } scaling;

/* `count` entries of E, and of A unless it is NULL, are scaled by a power of two so that the
 * largest, or the geometric mean of those that are not 0, is nearly 1. */
static void level(double *E, double *A, int count, int stride, scaling how)
{
    double sum = 0, most = 0;
    int terms = 0;
    for (int i = 0; i < count * stride; i += stride)
        for (int which = 0; which < (A ? 2 : 1); which++) {
            double size = fabs(which ? A[i] : E[i]);
            if (size == 0) continue;
            sum += log2(size), terms++;
            most = fmax(most, size);
        }
    if (terms == 0) return;
    double by = exp2(-rint(how == BY_MEAN ? sum / terms : log2(most)));
    for (int i = 0; i < count * stride; i += stride) {
        E[i] *= by;
        if (A) A[i] *= by;
    }
}

/* The units of equations, unknowns and time change no index. By the mean, farads and ohms do not
 * decide about ranks; by the largest, what rounding left in place of a 0 does not. */
static void balance(double *E, double *A, int n, scaling how)
{
    for (int round = 0; round < (how == BY_MEAN ? 10 : 1); round++) {
        for (int i = 0; i < n; i++) level(E + i * n, A + i * n, n, 1, how);
        for (int j = 0; j < n; j++) level(E + j, A + j, n, n, how);
        level(E, NULL, n * n, 1, how);
    }
}

static void multiply(const double *A, const double *B, int n, double *C)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < n; l++) sum += A[i * n + l] * B[l * n + j];
            C[i * n + j] = sum;
        }
}

/* Luenberger: P E with its zero rows below; those of P A, differentiated, take their place. How
 * often until E is regular is the Kronecker index of s E + A. -1: never, the pencil is singular. */
static int shuffle(indexer *d, const double *E0, const double *A0)
{
    int n = (int)d->n;
    size_t nn = (size_t)n * (size_t)n;
    double *E = take(d, nn), *A = take(d, nn), *T = take(d, nn), *V = take(d, nn), *P = take(d, nn);
    memcpy(E, E0, nn * sizeof *E);
    memcpy(A, A0, nn * sizeof *A);
    for (int times = 0; times <= n; times++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) T[j * n + i] = E[i * n + j];
        int rank = rank_of(d, T, n, n, V); /* the kernel of E' */
        if (rank < 0 || rank == n) return rank < 0 ? -1 : times;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) P[i * n + j] = V[i + j * n];
        multiply(P, E, n, T);
        memcpy(E, T, nn * sizeof *E);
        multiply(P, A, n, T);
        memcpy(A, T, nn * sizeof *A);
        for (int i = 0; i < n; i++) {
            double length = 0;
            for (int j = 0; j < n && i < rank; j++) length += E[i * n + j] * E[i * n + j];
            for (int j = 0; j < n; j++) {
                E[i * n + j] = i < rank ? E[i * n + j] / sqrt(length) : A[i * n + j];
                A[i * n + j] = i < rank ? A[i * n + j] / sqrt(length) : 0;
            }
        }
    }
    return -1;
}

/* Z: p vectors of length n spanning ker G. W: their parts orthogonal to Y (q orthonormal vectors),
 * made orthonormal behind those; Q = Z (W'Z)^-1 W'. false: a kernel meets those before. */
static bool project(indexer *d, const double *Z, int p, double *Y, int *q, double *Q)
{
    int n = (int)d->n;
    double *W = Y + *q * n, *S = take(d, (size_t)(p * 2 * p));
    for (int i = 0; i < p; i++) {
        double *w = W + i * n, length = 0;
        memcpy(w, Z + i * n, (size_t)n * sizeof *w);
        for (int round = 0; round < 2; round++)
            for (int l = 0; l < *q + i; l++) {
                double dot = 0;
                for (int j = 0; j < n; j++) dot += w[j] * Y[l * n + j];
                for (int j = 0; j < n; j++) w[j] -= dot * Y[l * n + j];
            }
        for (int j = 0; j < n; j++) length += w[j] * w[j];
        if (sqrt(length) < 1e-8) return false;
        for (int j = 0; j < n; j++) w[j] /= sqrt(length);
    }
    for (int i = 0; i < p; i++) { /* (W'Z | I), Gauss-Jordan */
        for (int j = 0; j < p; j++)
            for (int l = 0; l < n; l++) S[i * 2 * p + j] += W[i * n + l] * Z[j * n + l];
        S[i * 2 * p + p + i] = 1;
    }
    for (int c = 0; c < p; c++) {
        int best = c;
        for (int i = c; i < p; i++)
            if (fabs(S[i * 2 * p + c]) > fabs(S[best * 2 * p + c])) best = i;
        if (fabs(S[best * 2 * p + c]) < 1e-12) return false;
        for (int j = 0; j < 2 * p; j++) {
            double swap = S[c * 2 * p + j];
            S[c * 2 * p + j] = S[best * 2 * p + j];
            S[best * 2 * p + j] = swap;
        }
        for (int i = 0; i < p; i++) {
            double f = i == c ? 0 : S[i * 2 * p + c] / S[c * 2 * p + c];
            for (int j = 0; j < 2 * p && f != 0; j++) S[i * 2 * p + j] -= f * S[c * 2 * p + j];
        }
        double pivot = S[c * 2 * p + c];
        for (int j = 0; j < 2 * p; j++) S[c * 2 * p + j] /= pivot;
    }
    memset(Q, 0, (size_t)(n * n) * sizeof *Q);
    for (int i = 0; i < p; i++)
        for (int j = 0; j < p; j++)
            for (int a = 0; a < n; a++)
                for (int b = 0; b < n; b++)
                    Q[a * n + b] += Z[i * n + a] * S[i * 2 * p + p + j] * W[j * n + b];
    *q += p;
    return true;
}

/* The first regular G_i; -1: there is none (the pencil is singular, or a rank is in doubt). */
static int matrix_chain(indexer *d, double *G, double *B)
{
    int n = (int)d->n, q = 0;
    size_t nn = (size_t)n * (size_t)n;
    double *V = take(d, nn), *Z = take(d, nn), *Y = take(d, 2 * nn), *Q = take(d, nn);
    double *BQ = take(d, nn);
    for (int i = 0; i <= n; i++) {
        int rank = rank_of(d, G, n, n, V);
        if (rank < 0) return -1;
        if (rank == n) return i;
        for (int j = rank; j < n; j++) /* V is VT by columns: row j of VT is V[j + l n] */
            for (int l = 0; l < n; l++) Z[(j - rank) * n + l] = V[j + l * n];
        if (q + n - rank > n || !project(d, Z, n - rank, Y, &q, Q)) return -1;
        multiply(B, Q, n, BQ);
        for (size_t e = 0; e < nn; e++) {
            G[e] += BQ[e];
            B[e] -= BQ[e];
        }
    }
    return -1;
}

/* ---------------------------------------------------------------- derivative array ------ */

/* Before anything is computed: of the consistent start, or guesses. */
static double first_value(const indexer *d, const ex_node *leaf)
{
    if (d->k->started) return insight_value(d->k, leaf);
    return leaf->b == 0 ? d->k->m->value[slot_of(leaf->a, 2)] : 0;
}

static double array_value(const ex_node *leaf, void *user)
{
    const indexer *d = user;
    if (!insight_unknown(d->k, leaf)) return insight_value(d->k, leaf);
    uint32_t j = d->k->s->column_of[leaf->a];
    return (int)leaf->b <= d->levels ? d->x[leaf->b * d->n + j] : NAN;
}

static void add_leaves(indexer *d, uint32_t order)
{
    for (size_t j = 0; j < d->n; j++) {
        ex_id leaf = ex_variable(d->k->g, d->k->s->variable[j], order, EX_REAL);
        double v = first_value(d, ex_at(d->k->g, leaf));
        d->leaf[order * d->n + j] = leaf;
        d->x[order * d->n + j] = isfinite(v) ? v : 0;
    }
}

/* One derivative more; false: it cannot be, or becomes too large. */
static bool differentiate_more(indexer *d)
{
    size_t n = d->n, at = (size_t)d->levels * n;
    for (size_t i = 0; i < n; i++) {
        ex_id zero = ex_number(d->k->g, 0);
        d->array[at + i] = d->levels ? d->array[at - n + i] : d->residual[i];
        if (d->levels && !insight_differentiate(d->k, &d->array[at + i], &zero)) return false;
    }
    add_leaves(d, (uint32_t)++d->levels);
    ex_walk *w = ex_walk_begin(d->k->g, d->array, at + n);
    size_t nodes = w->count;
    ex_walk_end(d->k->g, w);
    return nodes <= NODES;
}

/* How fast the solution moves at the start, but at least 1. */
static double find_speed(const indexer *d)
{
    double speed = 1;
    for (size_t j = 0; j < d->n; j++) {
        double x = first_value(d, ex_at(d->k->g, d->leaf[j]));
        double rate = first_value(d, &(ex_node){ .op = EX_VARIABLE, .b = 1,
                                                      .a = d->k->s->variable[j] });
        if (isfinite(rate) && isfinite(x)) speed = fmax(speed, fabs(rate) / (1 + fabs(x)));
    }
    return speed;
}

/* J by x^(l) / speed^l. */
static void scale_columns(const indexer *d, double *J)
{
    size_t rows = (size_t)d->levels * d->n, columns = rows + d->n;
    for (size_t j = 0; j < columns; j++) {
        double unit = pow(d->speed, (double)(j / d->n));
        for (size_t i = 0; i < rows; i++) J[i * columns + j] *= unit;
    }
}

/* The shortest change of the derivatives, and of x if that may move, that removes the residuals of
 * the linearized array. */
static bool correct(indexer *d, const double *J, const double *r, bool moves, double *change)
{
    int rows = d->levels * (int)d->n, columns = rows + (int)d->n, one = 1, rank, info = 0,
        lwork = -1;
    double *a = take(d, (size_t)rows * (size_t)columns), ask, cut = ZERO;
    int *pivot = dae_arena_take(d->k->arena, (size_t)columns + 1, sizeof *pivot);
    for (int i = 0; i < rows; i++) {
        double most = 0;
        for (int j = 0; j < columns; j++) most = fmax(most, fabs(J[i * columns + j]));
        most = most > 0 ? most : 1;
        for (int j = moves ? 0 : (int)d->n; j < columns; j++)
            a[i + j * rows] = J[i * columns + j] / most;
        change[i] = -r[i] / most;
    }
    dgelsy_(&rows, &columns, &one, a, &rows, change, &columns, pivot, &cut, &rank, &ask, &lwork,
            &info);
    lwork = (int)ask;
    double *work = take(d, (size_t)lwork);
    dgelsy_(&rows, &columns, &one, a, &rows, change, &columns, pivot, &cut, &rank, work, &lwork,
            &info);
    return info == 0;
}

static bool evaluate(indexer *d, double *r, double *J)
{
    size_t rows = (size_t)d->levels * d->n;
    if (!insight_evaluate(d->k, d->array, rows, d->leaf, rows + d->n, array_value, d, r, J))
        return false;
    scale_columns(d, J);
    return true;
}

/* First with x as it is; then x may move as well: a start that is right to 1e-10 is wrong by 1e-3
 * where a velocity is cubed. */
static bool satisfy(indexer *d, double *J)
{
    size_t columns = ((size_t)d->levels + 1) * d->n;
    double *r = take(d, columns), *change = take(d, columns);
    bool moves = !d->k->started;
    for (int round = 0; round < NEWTON; round++) {
        double worst = 0;
        if (!evaluate(d, r, J) || !correct(d, J, r, moves, change)) return false;
        for (size_t i = 0; i < columns; i++) {
            double unit = pow(d->speed, (double)(i / d->n));
            d->x[i] += unit * change[i];
            worst = fmax(worst, fabs(change[i]) / (1 + fabs(d->x[i]) / unit));
        }
        if (worst < 1e-9 && moves) return evaluate(d, r, J);
        if (worst < 1e-9) moves = true;
    }
    return false;
}

/* No residual is left. */
static bool holds(indexer *d, const double *J)
{
    size_t rows = (size_t)d->levels * d->n, columns = rows + d->n;
    double *r = take(d, rows), *unused = take(d, rows * columns);
    if (!evaluate(d, r, unused)) return false;
    for (size_t i = 0; i < rows; i++) {
        double scale = 1;
        for (size_t j = 0; j < columns; j++)
            scale = fmax(scale, fabs(J[i * columns + j]) *
                                    (1 + fabs(d->x[j]) / pow(d->speed, (double)(j / d->n))));
        if (fabs(r[i]) > 1e-8 * scale) return false;
    }
    return true;
}

/* Ranks are those of a point that satisfies the array. A start that had to move to get there was
 * found by a structure that hides constraints. */
static const char *name_of_point(const indexer *d)
{
    for (size_t j = 0; d->k->started && j < d->n; j++) {
        double v = insight_value(d->k, ex_at(d->k->g, d->leaf[j]));
        if (fabs(d->x[j] - v) > 1e-4 * (1 + fabs(v)))
            return "a point that satisfies it, as the start that was found does not";
    }
    return d->k->started ? "the start" : "a point near the start values";
}

static bool determines_rates(indexer *d, const double *J)
{
    int n = (int)d->n, rows = d->levels * n, columns = rows + n, rest = rows - n;
    double *R = take(d, (size_t)rows * (size_t)rows), *S = take(d, (size_t)rows * (size_t)rest);
    for (int i = 0; i < rows; i++) {
        memcpy(R + i * rows, J + i * columns + n, (size_t)rows * sizeof *R);
        memcpy(S + i * rest, J + i * columns + 2 * n, (size_t)rest * sizeof *S);
    }
    int all = rank_of(d, R, rows, rows, NULL), without = rank_of(d, S, rows, rest, NULL);
    return all >= 0 && without >= 0 && all - without == n;
}

/* Unknowns less the constraints that the array leaves when all derivatives are eliminated; -1: not
 * clear. */
static int count_freedom(indexer *d, const double *J)
{
    int n = (int)d->n, rows = d->levels * n, columns = rows + n;
    double *R = take(d, (size_t)rows * (size_t)rows);
    for (int i = 0; i < rows; i++)
        memcpy(R + i * rows, J + i * columns + n, (size_t)rows * sizeof *R);
    int all = rank_of(d, J, rows, columns, NULL), without = rank_of(d, R, rows, rows, NULL);
    bool clear = all >= 0 && without >= 0 && d->kept >= 1000 * d->dropped;
    return clear ? n - (all - without) : -1;
}

static int derivative_array(indexer *d, const char **how)
{
    insight *k = d->k;
    size_t most = MOST / d->n;
    most = most > LEVELS ? LEVELS : most;
    d->array = dae_arena_take(k->arena, most * d->n + 1, sizeof *d->array);
    d->leaf = dae_arena_take(k->arena, (most + 1) * d->n + 1, sizeof *d->leaf);
    d->x = take(d, (most + 1) * d->n);
    add_leaves(d, 0);
    d->speed = find_speed(d);
    *how = "the derivative array has too many equations";
    for (size_t level = 0; level < most; level++) {
        if (!differentiate_more(d)) {
            *how = "an equation cannot be differentiated often enough";
            return -1;
        }
        double *J = take(d, (level + 1) * d->n * (level + 2) * d->n);
        d->kept = INFINITY, d->dropped = 0;
        if (!satisfy(d, J) || !holds(d, J)) {
            d->violated = true;
            *how = "no derivatives were found that satisfy the derivative array";
            return -1;
        }
        if (!determines_rates(d, J)) continue;
        *how = dae_arena_print(
            k->arena, "derivative array at %s: singular values kept >= %.1e, dropped <= %.1e",
            name_of_point(d), d->kept, d->dropped);
        k->out.array_freedom = count_freedom(d, J);
        return (int)level;
    }
    return -1;
}

/* ---------------------------------------------------------------- coefficients ---------- */

static bool constant(indexer *d, ex_id e)
{
    bool moves = false;
    ex_walk *w = ex_walk_begin(d->k->g, &e, 1);
    for (size_t i = 0; i < w->count && !moves; i++) {
        const ex_node *n = ex_at(d->k->g, w->order[i]);
        moves = n->op == EX_TIME || n->op == EX_DELAY || (n->flags & EX_EVENT) ||
                insight_unknown(d->k, n);
    }
    ex_walk_end(d->k->g, w);
    return !moves;
}

/* Linear in the unknowns and their derivatives with coefficients that stay as they are. */
static bool constant_coefficients(indexer *d)
{
    const flat_signature *s = d->k->s;
    for (uint32_t i = 0; i < s->rows; i++)
        for (size_t e = s->start[i]; e < s->start[i + 1]; e++)
            for (uint32_t l = 0; l <= s->order[e]; l++) {
                ex_id leaf = ex_variable(d->k->g, s->variable[s->column[e]], l, EX_REAL),
                      culprit = 0;
                ex_id a = ex_derivative(d->k->g, d->residual[i], leaf, &culprit);
                if (culprit || !a || !constant(d, a)) return false;
            }
    return true;
}

/* Pryce's system Jacobian at the start: 1 regular, 0 singular, -1 not known. */
static int system_jacobian(indexer *d)
{
    const flat_signature *s = d->k->s;
    size_t n = d->n, entries = s->start[s->rows];
    ex_id *slope = dae_arena_take(d->k->arena, entries + 1, sizeof *slope);
    double *value = take(d, entries), *J = take(d, n * n), none;
    for (uint32_t i = 0; i < s->rows; i++)
        for (size_t e = s->start[i]; e < s->start[i + 1]; e++) {
            uint32_t j = s->column[e];
            ex_id culprit = 0, leaf = ex_variable(d->k->g, s->variable[j], s->order[e], EX_REAL);
            slope[e] = s->order[e] + s->c[i] == s->d[j]
                           ? ex_derivative(d->k->g, d->residual[i], leaf, &culprit)
                           : ex_number(d->k->g, 0);
            if (culprit || !slope[e]) return -1;
        }
    if (!insight_jacobian(d->k, slope, entries, NULL, 0, value, &none)) return -1;
    for (uint32_t i = 0; i < s->rows; i++)
        for (size_t e = s->start[i]; e < s->start[i + 1]; e++) J[i * n + s->column[e]] = value[e];
    int rank = rank_of(d, J, (int)n, (int)n, NULL);
    return rank < 0 ? -1 : rank == (int)n;
}

int insight_system_jacobian(insight *k, uint32_t most)
{
    const flat_signature *s = k->s;
    if (s->rows == 0 || s->rows > most) return -1;
    indexer d = { .k = k, .n = s->rows, .kept = INFINITY };
    d.residual = dae_arena_take(k->arena, s->rows + 1, sizeof *d.residual);
    for (uint32_t i = 0; i < s->rows; i++)
        d.residual[i] = insight_residual(k, &k->flat->equation[s->equation[i]]);
    return system_jacobian(&d);
}

/* ---------------------------------------------------------------- all ------------------- */

/* The index of the pencil s E + A, J = (E, A); false: a rank is in doubt, or it is singular. */
static bool pencil_index(indexer *d, const double *J, scaling how)
{
    dae_insight *o = &d->k->out;
    size_t n = d->n;
    double *G = take(d, n * n), *B = take(d, n * n);
    for (size_t i = 0; i < n; i++) {
        memcpy(G + i * n, J + i * 2 * n, n * sizeof *G);
        memcpy(B + i * n, J + i * 2 * n + n, n * sizeof *B);
    }
    balance(G, B, (int)n, how);
    d->kept = INFINITY, d->dropped = 0;
    int shuffles = shuffle(d, G, B), chain = matrix_chain(d, G, B);
    bool clear = shuffles == chain && d->kept >= 1000 * d->dropped;
    o->tractability_index = clear ? chain : -1;
    o->tractability_how =
        shuffles < 0 && chain < 0
            ? "the matrix chain does not end: the pencil is singular at the start"
        : !clear
            ? dae_arena_print(d->k->arena,
                              "a rank is in doubt: matrix chain %d, shuffle algorithm %d (-1: "
                              "singular); singular values kept >= %.1e, dropped <= %.1e",
                              chain, shuffles, d->kept, d->dropped)
        : o->linear ? "projectors, matrix chain G0, G1, ...; the shuffle algorithm agrees; exact, "
                      "the coefficients are constant"
                    : "projectors, matrix chain G0, G1, ... of the linearization frozen at the "
                      "start; the equations' own where that varies is not computed";
    return o->tractability_index >= 0;
}

/* Constant coefficients are given numbers; others are computed, and a 0 among them may not be. */
static void find_tractability(indexer *d)
{
    insight *k = d->k;
    dae_insight *o = &k->out;
    size_t n = d->n;
    ex_id *leaf = dae_arena_take(k->arena, 2 * n + 1, sizeof *leaf);
    double *r = take(d, n), *J = take(d, 2 * n * n);
    for (size_t j = 0; j < n; j++) {
        leaf[j] = ex_variable(k->g, k->s->variable[j], 1, EX_REAL);
        leaf[n + j] = ex_variable(k->g, k->s->variable[j], 0, EX_REAL);
    }
    o->tractability_how = "the equations cannot be evaluated at the start";
    bool good = o->differentiation_index >= 0 || o->linear == 1
                    ? insight_evaluate(k, d->residual, n, leaf, 2 * n, array_value, d, r, J)
                    : insight_jacobian(k, d->residual, n, leaf, 2 * n, r, J);
    if (!good) return;
    scaling first = o->linear ? BY_MEAN : BY_LARGEST;
    if (!pencil_index(d, J, first)) pencil_index(d, J, first == BY_MEAN ? BY_LARGEST : BY_MEAN);
}

/* A regular pencil has one index, whichever way it is found: if ways differ, none is told. A
 * linearization that varies may have another index than the equations, and is not to be trusted
 * if the differentiation index is another. */
static void confirm_tractability(indexer *d)
{
    dae_insight *o = &d->k->out;
    int frozen = o->tractability_index;
    if (frozen < 0 || o->differentiation_index < 0 || frozen == o->differentiation_index) return;
    o->tractability_index = -1;
    if (o->linear == 1) {
        o->tractability_how = o->differentiation_how = dae_arena_print(
            d->k->arena,
            "a rank is in doubt, perhaps for units far apart: the pencil has index %d, but %d is "
            "found by: %s",
            frozen, o->differentiation_index, o->differentiation_how);
        o->differentiation_index = o->array_freedom = -1;
        return;
    }
    o->tractability_how = dae_arena_print(
        d->k->arena,
        "the linearization frozen at the start has %d, but it varies, and the differentiation "
        "index is %d",
        frozen, o->differentiation_index);
}

static uint32_t highest_offset(const flat_signature *s)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->rows; i++) most = s->c[i] > most ? s->c[i] : most;
    return most;
}

static void find_perturbation(indexer *d, int jacobian)
{
    dae_insight *o = &d->k->out;
    uint32_t most = highest_offset(d->k->s);
    if (o->linear == 1 && o->tractability_index >= 0) {
        o->perturbation_low = o->perturbation_high = o->tractability_index;
        o->perturbation_how =
            "linear with constant coefficients: the Kronecker index of the pencil";
        return;
    }
    o->perturbation_low = o->differentiation_index;
    if (jacobian != 1 || (int)most + (o->structural_index > 0) < o->perturbation_low) {
        o->perturbation_how =
            "at least the differentiation index; the system Jacobian gives no bound";
        return;
    }
    o->perturbation_high = (int)most + (o->structural_index > 0);
    o->perturbation_how =
        o->perturbation_low == o->perturbation_high
            ? "the differentiation index is a lower bound, max c + 1 of the offsets an upper one"
            : "between the differentiation index and max c + 1 of the offsets";
}

/* The rank check has its own way to the differentiation index: generic points near the start
 * values, which need not satisfy the array. It counts where the array at the start gives no
 * answer, unless that start satisfies none; if they differ both are told. */
static void ask_regular(insight *k, bool violated)
{
    dae_insight *o = &k->out;
    flat_regular *r = k->regular;
    if (!r || r->index < 0) return;
    flat_find_index(r);
    if (r->least < 0 || r->least != r->most || r->most == o->differentiation_index) return;
    if (o->differentiation_index >= 0 || (violated && k->started && o->linear != 1)) {
        o->differentiation_how = dae_arena_print(k->arena, "%s; at points nearby it is %d",
                                                 o->differentiation_how, r->most);
        return;
    }
    o->differentiation_index = r->most;
    o->differentiation_how = "shuffles, or ranks of the derivative array, near the start values";
}

void insight_indices(insight *k)
{
    dae_insight *o = &k->out;
    const flat_signature *s = k->s;
    o->differentiation_index = o->tractability_index = -1;
    o->perturbation_low = o->perturbation_high = o->linear = o->array_freedom = -1;
    o->differentiation_how = o->tractability_how = o->perturbation_how =
        s->rows == 0   ? "there are no continuous unknowns"
        : k->m->delays ? "the past of the delays is not known"
                       : "more than 200 unknowns: not computed";
    if (s->rows == 0 || k->m->delays || s->rows > MOST / 3) {
        if (s->rows) ask_regular(k, false);
        return;
    }
    indexer d = { .k = k, .n = s->rows, .kept = INFINITY };
    d.residual = dae_arena_take(k->arena, s->rows + 1, sizeof *d.residual);
    for (uint32_t i = 0; i < s->rows; i++)
        d.residual[i] = insight_residual(k, &k->flat->equation[s->equation[i]]);
    o->linear = constant_coefficients(&d);
    o->differentiation_index = derivative_array(&d, &o->differentiation_how);
    find_tractability(&d);
    ask_regular(k, d.violated);
    if (o->differentiation_index < 0 && o->linear == 1 && o->tractability_index >= 0) {
        o->differentiation_index = o->tractability_index;
        o->differentiation_how =
            "linear with constant coefficients: the Kronecker index of the pencil";
    }
    int jacobian = system_jacobian(&d);
    if (o->differentiation_index < 0 && jacobian == 1 && highest_offset(s) == 0) {
        o->differentiation_index = o->structural_index;
        o->differentiation_how =
            "the system Jacobian is regular and nothing has to be differentiated";
    }
    confirm_tractability(&d);
    find_perturbation(&d, jacobian);
}
