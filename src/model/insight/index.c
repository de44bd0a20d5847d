/* index.c: three indices of the equations as written, by numbers at the consistent start.
 *
 * Differentiation index: derivative.c.
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

enum { MOST = 600 };
static const double ZERO = 1e-10; /* singular values below this part of the largest count as 0 */

typedef struct indexer {
    insight *k;
    uint32_t n;
    ex_id *residual;      /* F */
    double *x;            /* x, x' at a point that satisfies the derivative array */
    double gap;           /* of the decision on the differentiation index */
    bool violated;        /* no derivatives were found that satisfy the array */
    double kept, dropped; /* around the closest decision on a rank */
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

static double array_value(const ex_node *leaf, void *user)
{
    const indexer *d = user;
    if (!insight_unknown(d->k, leaf)) return insight_value(d->k, leaf);
    uint32_t j = d->k->s->column_of[leaf->a];
    return leaf->b <= 1 ? d->x[leaf->b * d->n + j] : NAN;
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

/* Pryce's system Jacobian at the start, n x n by rows; false: not known. beside[i]: the largest
 * derivative of row i by anything that occurs in it, lower derivatives included; 0: an entry of the
 * row is constant, which is not what rounding left of a 0, however small it is beside others. */
static bool fill_system_jacobian(indexer *d, double *J, double *beside)
{
    const flat_signature *s = d->k->s;
    size_t n = d->n, entries = s->start[s->rows], count = 0;
    for (size_t e = 0; e < entries; e++) count += s->order[e] + 1;
    ex_id *slope = dae_arena_take(d->k->arena, count + 1, sizeof *slope);
    double *value = take(d, count), none;
    bool *sure = dae_arena_take(d->k->arena, s->rows + 1, sizeof *sure);
    count = 0;
    for (uint32_t i = 0; i < s->rows; i++)
        for (size_t e = s->start[i]; e < s->start[i + 1]; e++)
            for (uint32_t l = 0; l <= s->order[e]; l++, count++) {
                ex_id culprit = 0, x = ex_variable(d->k->g, s->variable[s->column[e]], l, EX_REAL);
                slope[count] = ex_derivative(d->k->g, d->residual[i], x, &culprit);
                if (culprit || !slope[count]) return false;
            }
    if (!insight_jacobian(d->k, slope, count, NULL, 0, value, &none)) return false;
    count = 0;
    for (uint32_t i = 0; i < s->rows; i++)
        for (size_t e = s->start[i]; e < s->start[i + 1]; e++)
            for (uint32_t l = 0; l <= s->order[e]; l++, count++) {
                beside[i] = fmax(beside[i], fabs(value[count]));
                if (l + s->c[i] != s->d[s->column[e]]) continue;
                J[i * n + s->column[e]] = value[count];
                sure[i] |= value[count] != 0 && constant(d, slope[count]);
            }
    for (uint32_t i = 0; i < s->rows; i++)
        if (sure[i]) beside[i] = 0;
    return true;
}

/* 1 regular, 0 singular, -1 not known. */
static int system_jacobian(indexer *d)
{
    double *J = take(d, (size_t)d->n * d->n);
    if (!fill_system_jacobian(d, J, take(d, d->n))) return -1;
    int rank = rank_of(d, J, (int)d->n, (int)d->n, NULL);
    return rank < 0 ? -1 : rank == (int)d->n;
}

/* What is left of a 0 where the start is known to rounding of Newton's method only. */
static const double NEARLY_SINGULAR = 1e-7;

bool insight_is_singular(insight *k, uint32_t most)
{
    const flat_signature *s = k->s;
    if (s->rows == 0 || s->rows > most) return false;
    indexer d = { .k = k, .n = s->rows, .kept = INFINITY };
    int n = (int)d.n;
    double *J = take(&d, (size_t)n * (size_t)n), *beside = take(&d, (size_t)n);
    d.residual = dae_arena_take(k->arena, s->rows + 1, sizeof *d.residual);
    for (uint32_t i = 0; i < s->rows; i++)
        d.residual[i] = insight_residual(k, &k->flat->equation[s->equation[i]]);
    if (!fill_system_jacobian(&d, J, beside)) return false;
    for (int i = 0; i < n; i++) { /* a row of what rounding left of zeros is not to be scaled up */
        double largest = 0;
        for (int j = 0; j < n; j++) largest = fmax(largest, fabs(J[i * n + j]));
        if (largest < NEARLY_SINGULAR * beside[i]) return true;
    }
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < n; i++) level(J + i * n, NULL, n, 1, BY_LARGEST);
        for (int j = 0; j < n; j++) level(J + j, NULL, n, n, BY_LARGEST);
    }
    int rank = rank_of(&d, J, n, n, NULL);
    return rank >= 0 && (rank < n || d.kept < NEARLY_SINGULAR);
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
        : !clear    ? dae_arena_print(d->k->arena,
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
        o->perturbation_low < 0 ? "max c + 1 of the offsets is an upper bound"
        : o->perturbation_low == o->perturbation_high
            ? "the differentiation index is a lower bound, max c + 1 of the offsets an upper one"
            : "between the differentiation index and max c + 1 of the offsets";
}

/* Where values were found that satisfy the array as often differentiated, and x' is not determined
 * by them, an index of points that do not satisfy it is not that of a solution. */
static bool is_refuted(insight *k, int nearby)
{
    if (k->out.differentiation_index >= 0 || nearby > k->undetermined) return false;
    k->out.differentiation_how = dae_arena_print(
        k->arena,
        "F = 0, ..., F^(%d) = 0 do not determine x' at %s: equations depend on each other on the "
        "solution; beside it, where they do not hold, the index is %d",
        k->undetermined, k->started ? "the start" : "a point that satisfies them", nearby);
    return k->singular = true;
}

/* An equation whose gradient is what is left of a 0, (x - y)^2 = 0: it vanishes on the solution, to
 * the root of rounding, and grows as soon as the unknowns differ by a thousandth of themselves.
 * Rows are scaled before ranks are looked at, so a rank does not tell. */
static const double ASIDE = 1e-3, FLAT = 1e-6;

static double beside_value(const ex_node *leaf, void *user)
{
    const indexer *d = user;
    double v = array_value(leaf, user);
    if (!insight_unknown(d->k, leaf)) return v;
    uint32_t j = d->k->s->column_of[leaf->a];
    return v * (1 + ASIDE * sin(1.7 * j + 0.9 * leaf->b + 0.4));
}

static double row_size(const double *J, size_t i, size_t width)
{
    double most = 0;
    for (size_t j = 0; j < width; j++) most = fmax(most, fabs(J[i * width + j]));
    return most;
}

static void refuse_flat(indexer *d)
{
    insight *k = d->k;
    dae_insight *o = &k->out;
    size_t n = d->n;
    ex_id *leaf = dae_arena_take(k->arena, 2 * n + 1, sizeof *leaf);
    double *r = take(d, n), *here = take(d, 2 * n * n), *beside = take(d, 2 * n * n);
    if (o->differentiation_index < 0 || o->linear == 1) return;
    for (size_t j = 0; j < 2 * n; j++)
        leaf[j] = ex_variable(k->g, k->s->variable[j % n], j < n, EX_REAL);
    if (!insight_evaluate(k, d->residual, n, leaf, 2 * n, array_value, d, r, here) ||
        !insight_evaluate(k, d->residual, n, leaf, 2 * n, beside_value, d, r, beside))
        return;
    for (size_t i = 0; i < n; i++) {
        if (row_size(here, i, 2 * n) >= FLAT * row_size(beside, i, 2 * n)) continue;
        const flat_equation *e = &k->flat->equation[k->s->equation[i]];
        o->differentiation_how = dae_arena_print(
            k->arena,
            "the gradient of '%s' vanishes where it holds (%.1e; %.1e at values that differ by a "
            "thousandth): linearized it says nothing on the solution",
            insight_equation(k, e->left, e->right), row_size(here, i, 2 * n),
            row_size(beside, i, 2 * n));
        o->differentiation_index = o->array_freedom = -1;
        k->singular = true;
        return;
    }
}

/* The rank check has its own way to the differentiation index: generic points near the start
 * values, which need not satisfy the array. It counts where the array at the start gives no
 * answer, unless that start satisfies none or a rank is in doubt there; if they differ both are
 * told, and without a wide gap between singular values neither counts. */
static void ask_regular(insight *k, bool violated, double gap)
{
    dae_insight *o = &k->out;
    flat_regular *r = k->regular;
    if (!r || r->index < 0) return;
    flat_find_index(r);
    if (r->least < 0 || r->least != r->most || r->most == o->differentiation_index) return;
    if (gap >= INSIGHT_DOUBTFUL && is_refuted(k, r->most)) return;
    if (o->differentiation_index >= 0 || gap < INSIGHT_DOUBTFUL ||
        (violated && (k->started || r->changes) && o->linear != 1)) {
        bool disputed = o->differentiation_index >= 0 && gap < INSIGHT_DISPUTED;
        o->differentiation_how = dae_arena_print(k->arena, "%s; at points nearby it is %d",
                                                 o->differentiation_how, r->most);
        if (!disputed) return;
        o->differentiation_how = dae_arena_print(k->arena, "a rank is in doubt, it may be %d: %s",
                                                 o->differentiation_index, o->differentiation_how);
        o->differentiation_index = o->array_freedom = -1;
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
        if (s->rows) ask_regular(k, false, INFINITY);
        return;
    }
    indexer d = { .k = k, .n = s->rows, .kept = INFINITY, .gap = INFINITY };
    d.residual = dae_arena_take(k->arena, s->rows + 1, sizeof *d.residual);
    for (uint32_t i = 0; i < s->rows; i++)
        d.residual[i] = insight_residual(k, &k->flat->equation[s->equation[i]]);
    o->linear = constant_coefficients(&d);
    k->jacobian = -1;
    d.x = take(&d, 2 * (size_t)d.n);
    o->differentiation_index =
        insight_derivative_index(k, d.residual, d.x, &d.violated, &d.gap, &o->differentiation_how);
    refuse_flat(&d);
    find_tractability(&d);
    if (!k->singular) ask_regular(k, d.violated, d.gap);
    if (o->differentiation_index < 0 && o->linear == 1 && o->tractability_index >= 0) {
        o->differentiation_index = o->tractability_index;
        o->differentiation_how =
            "linear with constant coefficients: the Kronecker index of the pencil";
    }
    d.kept = INFINITY;
    int jacobian = system_jacobian(&d);
    if (d.gap < INSIGHT_DOUBTFUL && d.kept < NEARLY_SINGULAR) jacobian = -1;
    if (k->singular) jacobian = 0;
    if (o->differentiation_index < 0 && jacobian == 1 && highest_offset(s) == 0) {
        o->differentiation_index = o->structural_index;
        o->differentiation_how =
            "the system Jacobian is regular and nothing has to be differentiated";
    }
    k->jacobian = jacobian;
    confirm_tractability(&d);
    find_perturbation(&d, jacobian);
}
