/* given.c: Jacobians of the user in place of differences.
 *
 * A Jacobian that is good enough for Newton's iteration need not be good enough for a rank: terms
 * may be left out, or it may be of differences itself. So every one is compared with the equations:
 * along a direction that moves all unknowns and their derivatives, K a + C b must be what
 * differences of order 8 say, to nine digits of the terms it is a sum of. With the first that is
 * not, differences it is for the rest of the analysis.
 */
#include "analysis/analysis.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double DIGITS = 1e-9;

void dae_equations_offer(dae_equations *e, const dae_problem *problem)
{
    int both = problem->rhs ? problem->jacobian_x != NULL
                            : problem->jacobian || (problem->jacobian_x && problem->jacobian_xdot);
    e->given = both && !problem->jacobian_trusted && !e->system.computed;
}

/* The system's layout as a full matrix. */
static void spread(const dae_matrix *a, const double *from, double *J)
{
    for (int j = 0; j < a->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            J[(size_t)dae_column_row(a, j, k) + (size_t)j * (size_t)a->n] = from[k];
}

/* How unknown j moves, in [1/2, 1] of its increment. */
static double part(int j)
{
    double a = sin(12.9898 * j + 4.1), b = 0.75 + 0.25 * sin(78.233 * j + 1.7);
    return a < 0 ? -b : b;
}

/* F along the direction: its derivative into e->row. */
static int differ(dae_equations *e, double t, const double *x, const double *v)
{
    static const double weight[4] = { 4. / 5, -1. / 5, 4. / 105, -1. / 280 }, near = 1. / 8;
    int answer = DAE_OK;
    memset(e->row, 0, (size_t)e->n * sizeof *e->row);
    for (int k = 0; k < 8 && answer == DAE_OK; k++) {
        double by = (k % 2 ? -1 : 1) * (k / 2 + 1) * near;
        for (int j = 0; j < e->n; j++) {
            e->x[j] = x[j] + by * part(j) * e->step[0][j];
            e->v[j] = v[j] + by * part(j + 1) * e->step[1][j];
        }
        answer = dae_equations_f(e, t, e->x, e->v, e->r[0]);
        for (int i = 0; i < e->n && answer == DAE_OK; i++)
            e->row[i] += (k % 2 ? -1 : 1) * weight[k / 2] / near * e->r[0][i];
    }
    return answer;
}

static int proves_right(dae_equations *e, double t, const double *x, const double *v,
                        const double *K, const double *C)
{
    size_t n = (size_t)e->n;
    if (differ(e, t, x, v) != DAE_OK) return 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0, size = e->terms[i] * DBL_EPSILON;
        for (size_t j = 0; j < n; j++) {
            double a = K[i + j * n] * part((int)j) * e->step[0][j];
            double b = C[i + j * n] * part((int)j + 1) * e->step[1][j];
            sum += a + b;
            size += fabs(a) + fabs(b);
        }
        if (!(fabs(sum - e->row[i]) <= DIGITS * size)) return 0;
    }
    return 1;
}

int dae_equations_ask(dae_equations *e, double t, const double *x, const double *v, double *K,
                      double *C)
{
    size_t n = (size_t)e->n;
    double *w = dae_alloc(e->memory, n + 1, sizeof *w), *part_K = NULL, *part_C = NULL;
    size_t count = (size_t)e->system.matrix.count + 1;
    if (w) part_K = dae_alloc(e->memory, 2 * count, sizeof *part_K);
    if (part_K) part_C = part_K + count;
    for (size_t j = 0; j < n && w; j++) w[j] = 1e6 / fmax(fabs(x[j]), 1);
    int right =
        part_C && dae_system_jacobian(&e->system, t, x, v, e->time, w, part_K, part_C) == DAE_OK;
    if (right) {
        spread(&e->system.matrix, part_K, K);
        spread(&e->system.matrix, part_C, C);
        right = proves_right(e, t, x, v, K, C);
    }
    dae_free(e->memory, part_K);
    dae_free(e->memory, w);
    e->given = right;
    return right;
}
