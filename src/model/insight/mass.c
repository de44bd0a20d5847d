/* mass.c: M y' = f(t, y) with a constant singular M, brought to semi-explicit form.
 *
 * Gaussian elimination with complete pivoting on rows and columns gives nonsingular P and Q with
 *
 *     P M Q = diag(I, 0);   with y = Q u:   u_i' = (P f)_i, i <= rank;   0 = (P f)_i, i > rank.
 *
 * u = Q^-1 y: with pivots alone Q^-1 would be a permutation; the entries right of a pivot make it
 * say what really is differentiated: of C (x1' - x2') = ... it is u1 = x1 - x2.
 */
#include "model/insight/insight.h"

#include "expression/tidy.h"
#include "expression/walk.h"

#include <math.h>
#include <string.h>

enum { MOST = 40 };

typedef struct masser {
    insight *k;
    int n, rank;
    double *M, *P, *Q, *inverse; /* inverse: Q^-1 */
    ex_id *f, *y;
} masser;

/* ---------------------------------------------------------------- M and f --------------- */

static bool depends(insight *k, ex_id e)
{
    bool found = false;
    ex_walk *w = ex_walk_begin(k->g, &e, 1);
    for (size_t i = 0; i < w->count && !found; i++) {
        const ex_node *n = ex_at(k->g, w->order[i]);
        found = insight_unknown(k, n) || n->op == EX_TIME || n->op == EX_DELAY || n->op == EX_PRE ||
                (n->flags & EX_EVENT);
    }
    ex_walk_end(k->g, w);
    return found;
}

static double parameter(const ex_node *leaf, void *user)
{
    return insight_value(user, leaf);
}

static ex_id no_rates(ex_graph *g, ex_id leaf, void *user)
{
    const ex_node *n = ex_at(g, leaf);
    return insight_unknown(user, n) && n->b ? ex_number(g, 0) : leaf;
}

/* false: M is not constant, or its values are not known. */
static bool find_mass(masser *x)
{
    insight *k = x->k;
    const flat_signature *s = k->s;
    size_t n = (size_t)x->n;
    double out;
    for (uint32_t i = 0; i < s->rows; i++) {
        ex_id residual = insight_residual(k, &k->flat->equation[s->equation[i]]);
        for (size_t e = s->start[i]; e < s->start[i + 1]; e++) {
            if (s->order[e] == 0) continue;
            ex_id leaf = ex_variable(k->g, s->variable[s->column[e]], 1, EX_REAL), culprit = 0;
            ex_id a = s->order[e] == 1 ? ex_derivative(k->g, residual, leaf, &culprit) : 0;
            double none;
            if (culprit || !a || depends(k, a)) return false;
            if (!insight_evaluate(k, &a, 1, NULL, 0, parameter, k, &out, &none)) return false;
            x->M[i * n + s->column[e]] = out;
        }
        ex_substitute(k->g, &residual, 1, no_rates, k);
        x->f[i] = ex_unary(k->g, EX_NEGATE, residual);
    }
    return true;
}

/* ---------------------------------------------------------------- P M Q ----------------- */

static void swap_rows(double *A, int n, int a, int b)
{
    for (int j = 0; j < n && a != b; j++) {
        double x = A[a * n + j];
        A[a * n + j] = A[b * n + j];
        A[b * n + j] = x;
    }
}

static void swap_columns(double *A, int n, int a, int b)
{
    for (int i = 0; i < n && a != b; i++) {
        double x = A[i * n + a];
        A[i * n + a] = A[i * n + b];
        A[i * n + b] = x;
    }
}

/* The largest entry, of equal ones the first: rows and columns stay where they can. */
static double find_pivot(const double *A, int n, int from, int *row, int *column)
{
    double most = 0;
    for (int i = from; i < n; i++)
        for (int j = from; j < n; j++)
            if (fabs(A[i * n + j]) > most * (1 + 1e-12)) {
                most = fabs(A[i * n + j]);
                *row = i;
                *column = j;
            }
    return most;
}

static void transform(masser *x)
{
    int n = x->n;
    size_t nn = (size_t)n * (size_t)n;
    double *A = dae_arena_take(x->k->arena, nn + 1, sizeof *A), largest = 0;
    memcpy(A, x->M, nn * sizeof *A);
    for (int i = 0; i < n; i++) x->P[i * n + i] = x->Q[i * n + i] = x->inverse[i * n + i] = 1;
    for (int p = 0; p < n; p++) {
        int row = p, column = p;
        double pivot = find_pivot(A, n, p, &row, &column);
        largest = fmax(largest, pivot);
        if (!(pivot > 1e-12 * largest)) break;
        x->rank++;
        swap_rows(A, n, p, row);
        swap_rows(x->P, n, p, row);
        swap_columns(A, n, p, column);
        swap_columns(x->Q, n, p, column);
        swap_rows(x->inverse, n, p, column);
        double scale = A[p * n + p];
        for (int j = 0; j < n; j++) {
            A[p * n + j] /= scale;
            x->P[p * n + j] /= scale;
        }
        for (int i = 0; i < n; i++) {
            double f = i == p ? 0 : A[i * n + p];
            for (int j = 0; j < n && f != 0; j++) {
                A[i * n + j] -= f * A[p * n + j];
                x->P[i * n + j] -= f * x->P[p * n + j];
            }
        }
    }
    for (int p = 0; p < x->rank; p++) /* columns: what is right of the pivots */
        for (int j = x->rank; j < n; j++) {
            double f = A[p * n + j];
            for (int i = 0; i < n && f != 0; i++) {
                x->Q[i * n + j] -= f * x->Q[i * n + p];
                x->inverse[p * n + i] += f * x->inverse[j * n + i];
            }
        }
    for (size_t e = 0; e < nn; e++) { /* rounding of cancelled numbers */
        x->P[e] = fabs(x->P[e]) < 1e-14 ? 0 : x->P[e];
        x->Q[e] = fabs(x->Q[e]) < 1e-14 ? 0 : x->Q[e];
        x->inverse[e] = fabs(x->inverse[e]) < 1e-14 ? 0 : x->inverse[e];
    }
}

static bool is_plain(const masser *x)
{
    for (int i = 0; i < x->n; i++) {
        int row = 0, column = 0;
        for (int j = 0; j < x->n; j++) {
            row += x->M[i * x->n + j] != 0;
            column += x->M[j * x->n + i] != 0;
        }
        if (row > 1 || column > 1) return false;
    }
    return true;
}

/* ---------------------------------------------------------------- words ----------------- */

static ex_id combine(masser *x, const double *weight, const ex_id *e)
{
    ex_graph *g = x->k->g;
    ex_id sum = ex_number(g, 0);
    for (int j = 0; j < x->n; j++)
        if (weight[j] != 0)
            sum =
                ex_binary(g, EX_ADD, sum, ex_binary(g, EX_MULTIPLY, ex_number(g, weight[j]), e[j]));
    return ex_tidy(g, sum);
}

/* For the new unknowns: u, or another one if the model has names like u1. */
static const char *new_letter(const insight *k)
{
    static const char *const letter[] = { "u", "z", "q", "new_" };
    size_t take = 0;
    for (bool used = true; used && take < sizeof letter / sizeof *letter - 1; take += used) {
        used = false;
        for (size_t v = 0; v < k->flat->variables && !used; v++) {
            const char *name = k->flat->variable[v].name;
            used = name[0] == letter[take][0] && name[1] >= '0' && name[1] <= '9';
        }
    }
    return letter[take];
}

void insight_mass(insight *k)
{
    const flat_signature *s = k->s;
    size_t n = s->rows, nn = n * n;
    masser x = { .k = k, .n = (int)n };
    dae_insight_mass *o = &k->out.mass;
    if (n == 0 || n > MOST) return;
    double *block = dae_arena_take(k->arena, 4 * nn + 1, sizeof *block);
    x.M = block, x.P = block + nn, x.Q = block + 2 * nn, x.inverse = block + 3 * nn;
    x.f = dae_arena_take(k->arena, n + 1, sizeof *x.f);
    x.y = dae_arena_take(k->arena, n + 1, sizeof *x.y);
    if (!find_mass(&x)) return;
    transform(&x);
    for (size_t i = nn; i < 4 * nn; i++) block[i] = ex_neat(block[i]); /* P, Q, Q^-1 */
    const char **unknown = dae_arena_take(k->arena, n + 1, sizeof *unknown);
    const char **meaning = dae_arena_take(k->arena, n + 1, sizeof *meaning);
    const char **equation = dae_arena_take(k->arena, n + 1, sizeof *equation);
    for (size_t j = 0; j < n; j++) {
        x.y[j] = ex_variable(k->g, s->variable[j], 0, EX_REAL);
        unknown[j] = k->flat->variable[s->variable[j]].name;
    }
    const char *letter = new_letter(k);
    for (size_t i = 0; i < n; i++) {
        const char *u =
            ex_tidy_text(k->g, combine(&x, x.inverse + i * n, x.y), flat_name, k->flat, 2000);
        const char *f = ex_tidy_text(k->g, combine(&x, x.P + i * n, x.f), flat_name, k->flat, 2000);
        meaning[i] = dae_arena_print(k->arena, "%s%zu = %s", letter, i + 1, u);
        equation[i] = i < (size_t)x.rank
                          ? dae_arena_print(k->arena, "der(%s%zu) = %s", letter, i + 1, f)
                          : dae_arena_print(k->arena, "0 = %s", f);
    }
    *o = (dae_insight_mass){ .size = x.n,
                             .rank = x.rank,
                             .plain = is_plain(&x),
                             .M = x.M,
                             .P = x.P,
                             .Q = x.Q,
                             .unknown = unknown,
                             .meaning = meaning,
                             .equation = equation };
}
